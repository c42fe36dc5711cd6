"""Tool calls: one JSON object a line, real names, nested arguments."""

from __future__ import annotations

import json
from typing import Any

from clover_sim.streams.grammar_draws import Draw, date, hexadecimal, invented, letters, often, pick, whole, words

_CITIES = """Paris, London, Berlin, Tokyo, Madrid, Rome, Lima, Oslo, Vienna, Cairo, Nairobi, Mumbai, Delhi, Singapore,
São Paulo, New York, San Francisco, Los Angeles, Boston, Chicago, Seattle, Toronto, Sydney, Melbourne, Zürich, Prague,
Lisbon, Athens, Dublin, Warsaw, Helsinki, Ankara, Bogotá, Hanoi, Seoul, Osaka, Kyoto, Lagos, Accra, Tunis, Porto, Graz,
Bergen, Malmö, Gdańsk, Tartu, Ghent, Lyon, Turin, Split, Tampere, Cork, Leeds, Dundee, Halifax, Boise, Tucson, Omaha"""
_CITY_LIST = [city.strip() for city in _CITIES.replace("\n", " ").split(",")]
_AIRPORTS = words("JFK LHR CDG FRA AMS NRT SIN DXB LAX SFO ORD ATL EWR BOS MUC ZRH VIE OSL MAD LIS GRU SYD YYZ")
_CURRENCIES = words("USD EUR GBP JPY CHF CAD AUD SEK INR BRL KRW ZAR")
_LANGUAGES = words("en fr de es it pt nl sv ja ko zh ar hi tr pl")
_STATUS = words("open closed pending active shipped cancelled refunded draft archived")
_SUBJECTS = """running shoes|standing desk|noise cancelling headphones|vegan dinner recipes|hiking trails|flight delays
|coffee grinder|solar panels|interest rates|electric bikes|piano lessons|rain jackets|used cars|train tickets
|history of printing|protein folding|garden tools|cheap hotels|jazz concerts|climate report|open source licenses
|quarterly earnings|battery storage|translation services|art museums|board games|camping stoves|tax deadlines"""
_SUBJECT_LIST = [subject.strip() for subject in _SUBJECTS.split("|")]
_QUALIFIERS = ["near me", "under 100", "with free returns", "this weekend", "for beginners", "in stock", "reviews", ""]
_TABLES = words("orders customers invoices events sessions products payments users shipments tickets")
_COLUMNS = words("id name email status amount created_at updated_at country quantity price total user_id score")
_SUBJECT_LINES = """Quarterly report|Meeting moved to Friday|Your order has shipped|Invoice overdue|Welcome aboard
|Question about the contract|Lunch tomorrow?|Follow-up on our call|Updated travel plan|Server maintenance tonight"""
_SUBJECT_LINE_LIST = [line.strip() for line in _SUBJECT_LINES.split("|")]
_TEXTS = """Please find the numbers attached.|Could you confirm by noon?|The delivery is late again.
|Thanks for your help.|We will call you back tomorrow.|Everything is ready for the launch.
|I would like to change my booking.
|The total does not match the invoice.|Let me know if another day suits you better."""
_TEXT_LIST = [text.strip() for text in _TEXTS.split("|")]

Arguments = dict[str, Any]


def _person(draw: Draw) -> str:
    first = ("Ann", "Omar", "Lena", "Ravi", "Mei", "Tom", "Sara", "Jon", "Ada", "Luis", "Nora", "Ivan", "Kofi", "Yuki")
    return f"{often(draw, first)} {invented(draw)}"


def _email(draw: Draw) -> str:
    return f"{invented(draw).lower()}.{invented(draw).lower()}@example.{pick(draw, ('com', 'org', 'net'))}"


def _query(draw: Draw) -> str:
    return f"{often(draw, _SUBJECT_LIST)} {pick(draw, _QUALIFIERS)}".strip()


def _place(draw: Draw) -> Arguments:
    return {"latitude": round(draw() * 140 - 70, 4), "longitude": round(draw() * 340 - 170, 4)}


def _weather(draw: Draw) -> Arguments:
    return {"city": often(draw, _CITY_LIST), "unit": pick(draw, ("celsius", "fahrenheit")), "days": whole(draw, 1, 10)}


def _flights(draw: Draw) -> Arguments:
    return {
        "origin": pick(draw, _AIRPORTS),
        "destination": pick(draw, _AIRPORTS),
        "departure_date": date(draw),
        "passengers": whole(draw, 1, 5),
        "cabin": pick(draw, ("economy", "premium", "business")),
        "nonstop": draw() < 0.5,
    }


def _booking(draw: Draw) -> Arguments:
    guests = [{"name": _person(draw), "age": whole(draw, 2, 88)} for _ in range(whole(draw, 1, 3))]
    return {
        "hotel_id": "htl_" + hexadecimal(draw, 8),
        "check_in": date(draw),
        "nights": whole(draw, 1, 14),
        "guests": guests,
        "breakfast": draw() < 0.6,
        "notes": None if draw() < 0.5 else pick(draw, _TEXT_LIST),
    }


def _search(draw: Draw) -> Arguments:
    filters = {"language": pick(draw, _LANGUAGES), "max_results": pick(draw, (5, 10, 20, 50)), "safe": draw() < 0.8}
    return {"query": _query(draw), "filters": filters}


def _mail(draw: Draw) -> Arguments:
    return {
        "to": [_email(draw) for _ in range(whole(draw, 1, 3))],
        "subject": pick(draw, _SUBJECT_LINE_LIST),
        "body": f"{pick(draw, _TEXT_LIST)} {pick(draw, _TEXT_LIST)}",
        "priority": pick(draw, ("low", "normal", "high")),
    }


def _event(draw: Draw) -> Arguments:
    hour = whole(draw, 7, 19)
    day = date(draw)
    return {
        "title": pick(draw, _SUBJECT_LINE_LIST),
        "start": f"{day}T{hour:02d}:{pick(draw, ('00', '15', '30', '45'))}:00Z",
        "duration_minutes": pick(draw, (15, 30, 45, 60, 90)),
        "attendees": [_email(draw) for _ in range(whole(draw, 1, 2))],
        "recurring": draw() < 0.2,
    }


def _convert(draw: Draw) -> Arguments:
    return {
        "amount": round(draw() * 5000, 2),
        "from_currency": often(draw, _CURRENCIES),
        "to_currency": pick(draw, _CURRENCIES),
    }


def _sql(draw: Draw) -> Arguments:
    table, column, order = pick(draw, _TABLES), pick(draw, _COLUMNS), pick(draw, _COLUMNS)
    query = f"SELECT {column}, {order} FROM {table} WHERE status = '{pick(draw, _STATUS)}' ORDER BY {order} DESC"
    return {
        "database": pick(draw, ("sales", "support", "analytics")),
        "query": query,
        "limit": pick(draw, (10, 50, 100)),
    }


def _order(draw: Draw) -> Arguments:
    items = [
        {"sku": f"{letters(draw, 3, 'ABCDEFGHKLMNPRSTUVWX')}-{whole(draw, 1000, 9999)}", "quantity": whole(draw, 1, 9)}
        for _ in range(whole(draw, 1, 4))
    ]
    return {"order_id": f"#W{whole(draw, 1_000_000, 9_999_999)}", "items": items, "gift": draw() < 0.3}


def _route(draw: Draw) -> Arguments:
    return {"from": _place(draw), "to": _place(draw), "mode": pick(draw, ("driving", "walking", "cycling", "transit"))}


def _refund(draw: Draw) -> Arguments:
    return {
        "payment_id": "pay_" + letters(draw, 14),
        "amount": round(draw() * 900, 2),
        "reason": pick(draw, _TEXT_LIST),
    }


def _file(draw: Draw) -> Arguments:
    folder, stem = pick(draw, ("src", "docs", "tests", "data", "config")), pick(draw, _TABLES)
    path = f"{folder}/{stem}_{whole(draw, 1, 99)}.{pick(draw, ('py', 'json', 'md', 'csv', 'yaml'))}"
    return {"path": path, "start_line": whole(draw, 1, 400), "end_line": whole(draw, 401, 800)}


def _translate(draw: Draw) -> Arguments:
    return {"text": pick(draw, _TEXT_LIST), "source": pick(draw, _LANGUAGES), "target": pick(draw, _LANGUAGES)}


def _user(draw: Draw) -> Arguments:
    return {"user_id": f"{invented(draw).lower()}_{whole(draw, 1000, 9999)}", "include_history": draw() < 0.4}


_TOOLS = (
    ("get_weather", _weather), ("search_web", _search), ("search_flights", _flights), ("get_user_details", _user),
    ("book_hotel", _booking), ("send_email", _mail), ("create_event", _event), ("update_order", _order),
    ("convert_currency", _convert), ("run_query", _sql), ("find_route", _route), ("issue_refund", _refund),
    ("read_file", _file), ("translate_text", _translate),
)  # fmt: skip

_encode = json.JSONEncoder(ensure_ascii=False).encode


def record(draw: Draw, index: int) -> str:
    """One call as a JSON object and a line feed."""
    name, arguments = often(draw, _TOOLS)
    call: dict[str, Any] = {"name": name, "arguments": arguments(draw)}
    if draw() < 0.35:
        call["id"] = "call_" + letters(draw, 24)
    return _encode(call) + "\n"
