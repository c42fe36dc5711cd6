"""Words and word parts that are one piece only in some positions, and runs of punctuation that are one piece.

Same counting and same check as ``lexicon_core``.
"""

SPACED_ANY_CASE = """
synopsis pam doesn specifies enough specify useful isn automatically applied several longer yourself programs asked
problems provides become contributor certain says practices warranty packaging anyone compatibility didn policies
separate believe therefore further various firewall beyond equivalent understand goes together james operating nobody
processes himself represents formatting thu immediately beginning standards overrides simply applies fear feet
indicates entire david speak carp everybody causes patent neither capability improve across encryption compliance
gives notices fri cheers generally independent programming granted radical declaration obtain passing wants exactly
took hep addition modification saying assume seems southeast completely determine microsoft preserve specification
morning peter york sistema easily guy designed analyzer likewise tried america fool offensive maintain universe
larger explain parsing michael previously dans spend behind tomorrow enables sir integrity manuals devil hate
combination parties president jul somebody french freedom reviewed paul huge infrastructure regarding harmony laugh
providing jim trouble protection poor tunnel builds feeling despite impossible relevant saw thick algorithms taste
reasons imported zak wonder wikipedia lives beauty requirement suitable conflict releases invocation sparse
introduction behaviour faster callable dear detection reality removing earlier worse programmer unified giving
forever anyway regardless decide strange lack machines opinion modes theory liability twice computers signing
whenever advice serious universal responsible statements intelligence evidence compilation infinity thousand
returning talking reporting twenty sage explanation couple university differences absolutely specs police
administration husband fashion recommendations excellent mike invitation society learned keeps leaves audience matt
finds vacation soul happiness greatest electricity directed displays martin ethernet assertion xen united abuse
chinese lawyer television discovery stability interested removal attempts compared chance enjoy smoke wonderful
breakfast christian northeast turns scientific treat funny listening yours certainly frank loose restrictions
detailed networks obviously nuclear monitoring leak significant waste infinite situation mercury guidelines professor
california clearly begins drinking sends crash platforms firmware married duty updating portions joe bottle produced
silence substitute clause quickly guys factors alternatively fellow german famous portable transitional grants
disclaimer speaking rational agreement bless programme rune crazy suddenly worst weird understanding spirit towards
desire benefit fifth correction watching moto eventually initialization politics marriage lawyers originally kiss
concepts hence advantage electronic hundred installing diagnostic knowing readers sitting yesterday honest dollars
iterable captain dangerous genius filtering christmas differential matters determines miles democracy turning removes
frequently march clothes totally shut april shoes dinner specifically bapt accounting supply jean secrets till
typical successfully unlike coy wisdom sight connectivity appendix constructs exhibit leaving teach fam sick thou
lady demand intelligent composite rare performs twelve political fourth sugar nose inspector individuals religion
improved chicago additionally chicken eating saint british everywhere falling thesis mais transmission speakers
expansion stops singular specifications timing cups wenn naming surely showing ancient approach wet networking
crossing ultra guarantee enhanced nicht rendering developed putting morph trick regression minds fate violence bought
civilization integrated eine planned polish fifty extremely personality blessed recently driving suppose tune heaven
polynomial friday monday cure regional hacker deletes newly unlimited unfortunately seriously russian naked marg
signs moreover convenience washington truly safety screw scientists localization similarly galaxy consent november
loved frozen august interpreter imagine shapes chaos september established dial spanish intellectual substance lunch
helps histogram supplement disease suit convenient flying engineer thousands courage brother milk smoking thai
powerful voting permanent probability indeed europe transformation gates accordingly mountain retrieved century
instantiate engines computing dual applying generates figures amendment healthcare encore increasing louis replies
philosophy zur scaling drugs alcohol taxes murder drinks dollar fond recommendation lifetime apart influence
historical responsibility presents semaphore honor outstanding fran performing losing concrete africa meat samp hurt
contributions monkey deferred chocolate optimization parking cage excellence convention lonely pilot youth teeth army
candidates eggs managing relax searching forgotten dies unary exercises guaranteed presented mesa island equation
harness santa immediate evening principle cheese golden parses definitely tape electrical provision voc wars gods
beach talent insight somehow streaming basically practical farmer growing nearly defense recorded costs sci rocks
majority labor treatment besides harm fired artificial thirty circuit bowl dedicated journey thoughts bears theater
priest elephant merry brothers corpus furthermore neon families pound saves humans federal proposed guru mathematics
mutual billion bloom tamil japanese grace secretary nearby flood clamp sleeping insights incorporated frost blow
synthetic religious butter discussions tough loves plastic military contribution administrative measures streets
mountains studies fantastic thickness liver dreams ducks importance tac sind midnight weapons integral transit
revised lucky initially experienced reliable fog nevertheless editors temple occasionally preference complexity
volunteers moral mercy angry cute helpful candy brilliant flesh leap supporting hearing whoever potato holy pope
listings monk savage juice friendship forty prize texas coke attorney flexible afterwards highly boots locate hanging
loud outcome paras buffered solo kafka automated december monetary personnel opportunity quaternion magazine kem
facilities odds recovery passage machinery correspond european proceed freed talks identification cairo jane smile
improvement newspaper techniques booth offering creature brave tears weekend discuss auch incredible golf bowling
doctors gifts curtain moments judgment handbook concurrent registers serving nach invisible inspired garden reactive
kann converts shadows filed equality cooperation directions canada employ replica italian eagle cherry traverse zum
breath bacon rings lighting glad goals fou establish emergency arithmetic solutions forbidden paradise peanut formal
proud glory hunting knock gentle amazing apartment emotional scientist bloody affairs wings pride bachelor penny
jersey angels dolphins fishing officer tonight burning consequently concern considering helping diese whereas dean
suggestions advertising structural managers london spare flavor disco jail regulation cutting variety diversity
sunday lesser pep bien weiter intermediate awake technologies soup reduced enumerable shoe companion ocean grain
essentially corporation turbo discipline hearts election watches chemistry millions belly suicide tide basics masks
treasure lips loving parade hills baseball mistress senate bathroom pocket toilet accident barrier clears resistance
tradition seal plenty sister serif threat canon calculation skeleton miracle honour adjustment compensation gaussian
cliff associations sauce retirement regards fluent auxiliary sept surprise progressive disaster france reporter pays
customs triple kitchen naturally throughout technique govern essence computes cleaning robin chess royal seeking
literature admission attribution conclusion beats leads blues extreme blockchain sentinel madness noble victory
lightning experts butterfly fame crack flame baker burns passion observation journalism sacred destiny comedy
adventure underground cartoon revolution ritual entertainment buying automobile crisis desert clerk garage spirits
darkness crowd shooting soldier largest accord cette orthodox seventh virus searches personally commander recall
apparently prevention humanity fancy ideally vanilla sword increased bodies injury plumbing printable broad southern
reputation chapters centers biggest citizen ninja perspective dove nail nights rolls recognition tall efficiency
choosing petit notebook passive economy uncle vacuum sail narrow mathematical rising hybrid bush scoped radiation
teaching winning cancer wax doom laundry maths citizens supreme theatre soldiers consultant carpet toll
congratulations overnight childhood stranger herald buddy tobacco dancing psychology dirt wells babies horror senior
piano bible liberty extraction quantum mature voltage wiring belle fundamental replay singer tiger enforcement indian
punch dow hmm eleven responsibilities consumption superior licensing gauge dare encounter reception peel marc gather
advertisement retrieves laboratory guests sprint sheep facing viewing nag principles decoration unicorn zoo massive
nations chips noon slack solar dust classical lamb executes cooper spending magical employer shock executive naughty
benefits dip attend tale lemon wander wheels nur tort mystery inspiration giant sandwich procedures libre congress
ruth bicycle rope shoulder dick theft needless divine bunny fallen invent beast eternal swim resist triumph coast
drama ladies curse emperor romantic cosmic surgery highway downtown tender gore princess soda legislature shark
knight kings psychic cowboy dawn mighty empire lif furniture satellite recorder quando redistribution shortly sixth
autonomous gathering sue operational toolkit poison paris berlin madrid phoenix singapore oslo stockholm hamburg
florida ohio germany japan india canadian australia mexico brazil african asian turkey pakistan indonesia philippines
donna amy walker facebook twitter youtube spotify uber instagram chrome firefox safari kotlin assistant chat forecast
latitude longitude hotels restaurants booking passenger airlines arrival cabin payments invoice ingredients cuisine
genre playlist album tweet stocks portfolio loan mortgage calculator fibonacci genome protein diagnosis symptoms
appointment reminder inbox scenario detector dissertation broker coordinator servlet fixture wildlife village bedroom
whale dolphin recycling pollution proposition neural
"""
"""One piece after a space, in lower case and capitalised."""

LOWER = """
href https specified etc xmlns pkg fmt iam ami indent ctx usr dtype ssl rst translations sqlite contain stderr
ignored acute pid png directories dns ssh filesystem whose exports tls configured readonly ecs translated fails yaml
pytest stylesheet printf uid appropriate cpu suffix warnings configs unsigned stmt licenses tmp hostname uuid typeof
edges quota sprintf grep ascii daemon verbose verbosity aes appear elif undef variants stdout texts implemented
requested filepath tty kwargs inode ftp comma reported blk prog handled ldap cls clusters ipv preset shown epsilon
marked aria ipc elsif dirs gettext folders remain numpy rsa spacing bindings ids extends pairs aliases println instr
refs obsolete unset opts exclude likely limitations unused rng gid vars compressed turned indices deny compiled utc
dst placed recv pseudo inspect canonical passes sqrt cfg encoded parsed gpu repositories terminate quoted mentioned
formatted extent usual diag fprintf ranges abc gcc contained builtin frac terminated hosts fallback udp prove compat
rgb gzip pathname annotations argv reasonable domains compress goto aware matched restrict timezone idx branches
typing termination ttl cmp digits tries normalized babel regexp chosen computed accessible sizeof deps opened zeros
toc passwd bounding xyz firstname surname inverse spent attrs newline uploads axes yyyy inherit delimiter encrypted
stdin resolved chars substr processed pkt asm foreach pci operate minus portion llvm inet merged defs implicit
weights noticed acl lhs recognized escaped activated opaque unlink ctl allocated onto nearest caught facet vpn
suggest consistent underscore mkdir overwrite notation iface stands snippet omit callbacks structured fft rtc arp
repr segments dependent lying belongs filled rhs mapped iff volatile concat latex acceptable recipient ears iteration
exe buffers vertices subset datetime errno tid forth hdr libs dots optimized finite entropy indexes cite loops
contexts inactive sock frontend answered represented expects oder discard ought nuts chunks basename picked affected
decrypt timestamps datasets jpeg identified restriction endif subs mere implicitly curr descending markup stood
handlers algo grpc masked ascending pthread textures substring plt abi distinct stash worked iii iid puts checksum
plural pts announce expiration packed flies sdk strconv localhost reachable protobuf anon filtered liable excluding
vary usable authenticated asks pragma neighbors amd ordinal rgba addons jsx felt pile entered viewport outfile
escaping reuse oauth eps hid typedef halt belief brains cwd reshape tbody queued pickle stab ancestor jour holders
fname sudo ode graphs attachments webpack javax iterations opacity forme nonce dirname issuer holes retain observe
queues constructed expired fullname emotion vals baseline closest jquery liked ended embedding prepend chmod italic
unlikely inclusive bases malloc awk clang stu svn tant derive violent interp listeners subst eslint gli cola npm crc
cred fifo mysql validated smtp expire headed blocked detach milliseconds lut formed unc wipe illusion uppercase lined
stride locking blah aaa repos weekday avail srv crafted decoded acct xor expires elapsed processors dll adm apl
locals rollback lint schemas noop splice modo weighted mpl issued proved ctr layouts approve bury quake foreground
argc truncate retval oid spots noun usb scaled rats dbg invert admins adc usted cycles subtitle unwrap tracked locks
tmpl owe ours datatype cpp consume unto anche owns nums csr gif pst elseif atoms flows sono rpm uintptr leur justify
nth aligned occasion quelle feeding paused kills hashed brightness spoken coded multipart erase inherits mise
eligible pwd crawl freq ellipse forcing mute planes urls placing aka extern msgs transpose renders charged rss
visited anger qualities subtract worthy ate titre stairs pray irq underline ties initializer usu quat iphone postgres
mongodb humidity departure voucher refund dna checkpoint heartbeat crate usize lemma linewidth
"""
"""One piece with or without a leading space, in lower case only."""

SPACED = """
urgency unstable upstream itself emphasis particular distribute whitespace vlan unspecified implied bump isinstance
standalone difficult easier applicable subsection multicast happen replied reloc themselves told exclusion
justification invariant underlying punctuation kms couldn indirect inclusion effort stupid affect existence mechanism
wouldn somewhere kept derivative symbolic meant doubt workload typo scipy humor arbitrary entitled reboot hierarchy
seem myself identical supplied syst worry limitation ctxt redistribute equiv relevance convey indicate asym interacts
permalink afraid simplify knew subnet gave mistake whom anybody prolonged proverb eof subsequent anywhere compromise
drift brought wasn colspan bracket overridden clever getattr libc lowercase predefined shouldn copied realize
circumstances terrible latter salsa ingress shallow died understood unpack trivial precedence absence occur denied
requisite succeed opposite excuse folks ndarray marry assez necessarily garbage wrote ioutil violation tend peut
lexical incompatible satisfy ugly atol tired dying hexadecimal possibility tsl anymore beware workstation fridge sont
obvious analyze optimize idiot silly intercept seguridad consistency gonna utilisateur suspend werden pem became
rollout vnode partie joke beneath workforce drunk vulnerability faire bandwidth bunch enforce miscellaneous toward
began satisfied confusion familiar survive exceed hungry achieve sensitive incomplete cela suppress periodic
sufficient parce readline unreachable acquire compliant prohibited necessity corrupt pleasure mankind backward
migrate cref salesman subclass clarify blame pouvez novice aussi communicate behave propagate prominent endorsements
primarily quelques spoke fuzz complicated mice designated correspondence unnecessary minimize instanceof firestore
steal foolish conjunction asymmetric sera anterior respective collaborate promote crt enclosing contribute intrusion
recognize excess ajout thereof carried dumb introduce accompany outgoing outdated confess abbreviated cvs subsystem
encourage hasn thrown feu acceptance intersect retention redundant ourselves belong quilt uncommon critic expensive
refuse stencil overhead revert repl terse matrices confusing preload datastore enlightened gentleman accelerator
sublicense existe hereby mailbox discouraged questo contenu simultaneously concise synonym paranoid floppy plusieurs
proprietary cancellation weren thee consist calm smell ignorance bartender environ overwritten parentheses wasm
decorator subtle overload confused endian inhibit replication pristine fingerprint litigation someday pourquoi stolen
broke royalty admit quotation oriented penalty multiline manipulate swallow wildcard unavailable preceding afternoon
bore indentation complain convince buried subordinate decay transient disagree consequential spline comme essere
delegation remind alongside happily alike struck stringify fichier elsewhere customization symptom gotten virtue
regenerate prend asynchronous expose bibliography lend dei accomplish trouve diffuse suspect pict gently plaisir
continuation downgrade somewhat precise curious infringement squid vulnerable behalf workaround exponent wird sudden
sake assumption intuitive burden sibling taught seldom stale reasonably unusual eliminate suspicious enlightenment
obscure occurrence thereby textual perceive grasp courtroom whiskey ambition postfix depuis posture consensus regard
conform caution remainder insensitive autre symmetric sich embrace avoir temporarily adopted hasattr dwarf metavar
composed opposed substantial geometric advised sacrifice intrinsic argparse isolate deemed tongue analyse bgcolor
getopt subtree folly overlap forensic ignorant gentlemen divorce dessert settle setuptools ambiguous spherical purge
noteworthy syscall arranged cease framebuffer unittest overcome adjacent maximal denotes heavily annoying notably
stuck contiguous herein quand malformed emulator artistic recurse expectation subgroup sockaddr worried heuristic
sane correlation ieee accurate breakpoint tempfile retire impose inference innocent siguiente bogus conscience guilty
notwithstanding insane unfortunate tied struggle imagination destruction drove dull insult stomach cried skeptical
mythical thirst interpretation pode statute intensity deux consequence probl permutation interpolate problematic
imaginary traceback threw defective perimeter bypass erroneous watchdog faut statistic linkage mmap enumerate
attitude distinguish eager awkward getenv underneath einen occupancy atm glue oneself profound aide sober simplified
relating prejudice enormous affinity einem unchanged valign domination polite assured sollten flock exciting
flexibility accompanied illumination sophisticated forgive argue pregnant psychiatrist endure civilized collar
magician climb liquor chaque realtime sigh wherever nowhere optimal misleading accessor throughput transmitted peu
overhaul discrete contrary mismatch exemple suck swear reorder interfere hurd simplicity commande cellspacing slight
pretend bigint rebuild sobre usando thoroughly afford dozen cellpadding stanza robust defend computation denial
surrounded buggy urllib votre intimate glitch della decent suspense worn scm patience coefficient grub magnitude
utilis cutoff gcd inheritance attractive motto conquer foe inability hadn interceptor nervous inconsistent shortage
philosopher consecutive demonstrate eaten amusing goodbye racism economists mediocre sensation toes compassion asleep
boredom ruined marvelous elevator magnificent terrified cigarette accused testimony setattr constitutes disappeared
intentionally ioctl peuvent organize contrib examine reproduce centralized gracefully drawn resides constrained
bizarre arrangement chose servidor descriptive delegated desperate preceded mortal afin divisor hypothesis tolerance
privilege gob confident grew negligence projet prohibits freezer shout bfs utilization cooperate entitlement laid
arrive diagnose attentive puede justified hors decrease deserve soit forbid variance disponibles shorthand intend
subprocess defeat diagonal surrender shm adequate pylint pencil complement gotta driven uptime synchronization
farther acknowledge rigid hostile scrub certainty insist scream tweak poet pedestrians peculiar intact delim
productivity guideline tgt irrelevant unrelated temptation unregister synchronous ctypes distrust grateful advertised
surtout postage forehead ninety affair obscene deeds skepticism theology sank rotten vessel stole cultivate bathtub
politician thru remnants orphan emph characteristic obligation caso readability initiate exotic tous crucial enclosed
viene utilise unreasonable eighteen timedelta cours pct annotate possess plut therein donn subtype tangent
autogenerated omission enhancements groupe dri excessive nonsense nasty synthesized neat predecessor veut crude
interconnected undertaken fulfill favour swirl systematic jitter ethnic appreciate appliance sop livre prune
prerequisites mixture deterministic suffer servicios backlog keen qos pratique ensuite choix contradictory absent
unsure ridiculous haben seguro involve finalize refrain definite victim horrible invariably trois recherche bailout
sometime grief phenomenon vulgar rewritten delle synchronize airplane contend futile deaf privat approximate
assembled poems excited enthusiasm dedication laughter tragedy girlfriend diplomat eyed soaked chew freeway alcoholic
drums invasion heroic vicious prisoners thief chorus maneuver whip abandon randomized lien theoretical paranoia bidi
earliest covariance sensible deficiencies divis implication ethanol classify infile trademark accelerated
gratuitement runoff noqa whatsoever comprehend concentrate arise procurement concurrency shy insecure nginx
assistants prompts flights reservations passengers airline baggage cancelled invoices hashtag factorial acceleration
molecule medication scenarios recycled replicate follower partitions brokers replicas offsets asyncio asserts tuples
vegetables dinosaur theorem equations convergence stochastic likelihood posterior benchmarks internship undergraduate
"""
"""One piece after a space, in lower case only."""

NAMES = """
january february june july october tuesday wednesday thursday saturday tokyo rome sydney boston houston dallas denver
seattle austin miami atlanta toronto vancouver montreal beijing shanghai mumbai delhi dubai moscow amsterdam vienna
brussels dublin lisbon athens copenhagen helsinki warsaw prague budapest zurich geneva barcelona milan venice
florence munich frankfurt manchester liverpool edinburgh glasgow oxford cambridge angeles francisco diego
philadelphia virginia georgia carolina michigan illinois pennsylvania massachusetts maryland arizona colorado oregon
nevada alaska hawaii minnesota wisconsin missouri tennessee kentucky louisiana alabama americans england britain
italy spain portugal portuguese russia korea korean australian mexican ireland irish scotland scottish sweden swedish
norway denmark dutch netherlands switzerland swiss austria greece greek turkish israel egypt iran iraq vietnam
thailand ukraine poland robert william richard joseph thomas charles daniel matthew anthony donald steven andrew
kenneth joshua kevin brian george edward ronald timothy jason jeffrey ryan jacob gary nicholas eric jonathan stephen
larry justin scott brandon benjamin samuel gregory alexander patrick dennis jerry tyler aaron henry nathan walter
harold kyle carl arthur roger keith lawrence albert willie patricia jennifer linda elizabeth barbara susan jessica
sarah karen nancy lisa margaret sandra ashley kimberly emily michelle carol amanda melissa deborah stephanie rebecca
laura sharon cynthia kathleen angela anna brenda nicole katherine samantha christine emma catherine rachel maria
heather diane julie joyce victoria kelly christina joan evelyn lauren judith olivia martha cheryl megan andrea hannah
jacqueline johnson williams jones davis miller wilson anderson taylor moore jackson thompson harris lewis wright
nelson mitchell carter roberts phillips campbell parker evans edwards collins stewart morris murphy rogers morgan
peterson reed bailey netflix linkedin kubernetes debian mozilla jenkins celsius fahrenheit bayesian
"""
"""One piece after a space when capitalised."""

BARE = """
gnu bsd arn ssa faq feb wright rtype openssl iptables arro manuel doctype apis mozilla ccc cgi iname aps mathrm culus
cbc nis xcb iap etag ffc shaw ird specifier dddd asn fcntl ucs apse ansi imap fff cox cdf oops icmp oom omitempty
callee ffff ifdef irc semicolon ian borg staticmethod autoload asl ctype andy cco fds classmethod pta ahi nist astype
stdlib ifr startswith dfa mailto mnt ets stdio paren tos imax verity nbsp bfd mtime fad ddd foobar psc mdb ritz xff
ecn uss crire seau kbd ino rete ffe pty antlr patrick iov xima igit ietf abo chemist greg abe ation slashes icolor
faf ellipsis rios coon ois iro ius existent cdn marvin gabe edith gles sembler sterreich gary
"""
"""One piece when no space stands before."""

UPPER = """
NAME API WITH GNU DESCRIPTION URL THE UTF FLAGS PARAM LICENSE AND SSL ANY TYPE SEE FUNC VERSION BSD FOR NOT FILE END
README JSON FLAG TLS SHA HTML ISO TODO USE KEY DATA OPTIONS XML MAC DEBUG WITHOUT SOURCE AES IAM ARM NULL MARK CONST
NOTE MODE PATH CODE PACKAGE DEFAULT LIST HTTP SIZE CONFIG NEWS CPU ASCII PUBLIC URI DIR THIS DEV GET MAX FAQ TEST RSA
DNS UNIX CAP YOU UID ALL UUID OTHER CMD HOME PROGRAM SQL STRING SSH UTC PASS REQUIRED LIB PORT USER INDEX GPL RPC
HERE SIGN INCLUDING FIXME LDAP MAP MAIN MERCHANTABILITY CONTENT INT GROUP RGB IPC ONLY CORE SELF PDF XYZ ERROR LINE
PID RFC XXX AST ENV CLASS TCP FILES EVENT PURE FORMAT VALUE COMMAND RIGHT GPU INTERNAL STATE TIME ERR IMAGE EDIT YYYY
NUMBER USA READ BLOCK CBC EOF GTK INC POST IMPLIED SERVER UDP ISA DEVICE VALUES DESC CLIENT DELETE NONE RAND SERVICE
STATUS ACTION ARRAY BEGIN HASH OUT MMC COUNT PROJECT COMMENT DOUBLE GENERAL FTP NET LEFT HEAD MIN MODULE BASE CLI
ADDR LOG AWS EXIT META INST CARD SET TARGET FROM CREATE WARNING NEW NON NODE INVALID FAILURE STORE INFO CONTROL TAG
SYS INSTALL TYPES RESOURCE EXPORT PNG HAS ACCESS DATE ARP ACTIVE TABLE LOAD UPDATE ONE PAD ENTRY ADDRESS HOLDER LABEL
ABI CTL CHECK ADD UNKNOWN WRITE SOFTWARE JPEG REGION CERT DOT OUTPUT EPS START CSS CACHE RTC BAD NETWORK ACCEPT LINK
LOCATION CALL MIT OBJECT INIT SECRET PROPERTY NUM DOWN FAILED EXT LOSS MESSAGE IID ROOT ROM OPEN DES LIGHT HAVE LANG
ACCOUNT UNDER SUPER VPN SECTION PER DIRECTORY TRUE YES PCI ENABLE COLOR SIG BUILD ALLOW RETURN CAST LOCAL QUERY
SCRIPT POP TEXT SUCCESS DAY TITLE FALSE PATCH OFFSET HTTPS SEARCH CHAR ASN RGBA IBM ADMIN LENGTH PREFIX GUI APP GCC
LOCK RATE INPUT FUNCTION VIEW REF SYSTEM IDENT FREE DEST TEMPLATE LAST HEADER MATCH SHOW FOUND IMPORT LIMIT YOUR
INSTANCE RUN HIGH SHORT PAGE ARGS JOB PART WHO DROP IEEE STATIC WIN LEVEL FILTER MAN ABS DER AAA METHOD PRIVATE ABC
SESSION DOM TOKEN CFG CONF INTEGER CAN BAR PCR EFI FULL TRACE NASA WARN FIRST AUTH WAIT VAR RES LANGUAGE GLOBAL
ATTRIBUTE MAKE PROFILE ARE MASK INV FLOAT GRE SMTP DEC DATABASE FIELD IDS ACK FFT PASSWORD IGNORE SPEC YEAR REST NSS
LIKE KEEP REQ BIT DIST BLACK REL OFF TERM LESS SVG AFF REMOVE CUSTOM OPTION WHITE OPT MODEL BOOL JNI SELECT PTS
RESULT UNIT RAW HOST SRC ORDER PLATFORM VID USB SPACE ENGINE ADC SDK ARG LEN CLEAR DISPLAY STREAM NORMAL SUB DIV HELP
DOMAIN BITS PTR RELEASE RULE BOOT LOW REPORT INCLUDE DONE ATTR OBJ WORK DEFINE ROLE III SPI MEMORY CEL CMS EMPTY ITEM
DEF WINDOW ISBN UINT MAT COOKIE AUTO COMMON SCI POINT NEXT LAN TEMP FINAL RSS CLOSE BUFFER BODY TASK BYTE TREE STACK
CRC EMAIL STYLE COPY WWW VALID LONG ESC BUG BUF IRC EFF SAN TAB ACL RAM CBD MSG CHANNEL ELEMENT SAFE OID THREAD PRE
CATEGORY PAL REQUEST IDE PACK PLAN FORCE
"""
"""One piece in capitals."""

UPPER_SPACED = """
LETTER LATIN SMALL CAPITAL SQLITE ALSO NOTES POSIX ALPHA EVP IDEOGRAPH WARRANTY COPYRIGHT AUTHOR YAML ATP KIND
WARRANTIES PPC SOUND STDERR CONDITIONS VLAN DAMAGES PURPOSE PARTICULAR FITNESS XHTML POD BASIS SUCH AUTHORS MIPS LLC
ABOVE GNOME HISTORY THREE GOT BUT POT SYMBOL PARTY LIMITED ECS LINUX SSA COPYING COMPONENT MUST CHARSET MPL HMAC LAW
NFS DOS TERMS INTERVAL OPTIONAL SERVICES CONSEQUENTIAL KDE LARGE LIABLE SPECIAL TTL ELF ANSI INCIDENTAL SPDX PROVIDED
OTHERWISE PEM ECB SHOULD COST LIABILITY SECURITY BIOS SOCK TWO LTS EVEN PERFORMANCE SHALL ARISING EITHER POSSIBILITY
ICU BELOW MIME ICMP CONSTRAINT TIMEOUT DIAG USERS IPV BEEN PARAMETERS INITIAL MODIFY HOLDERS MISSING SSR PUSH SLOT
EXTRA WHEN MAY CLOCK HOUR WILL THIRD ADVISED THERE NAT STATS DISPATCH DFA DHCP
"""
"""One piece in capitals after a space."""
