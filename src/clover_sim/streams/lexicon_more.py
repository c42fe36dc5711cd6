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
autonomous gathering sue operational toolkit poison
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
visited anger qualities subtract worthy ate titre stairs pray irq underline ties initializer usu quat
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
gratuitement runoff noqa whatsoever comprehend concentrate arise procurement concurrency shy insecure
"""
"""One piece after a space, in lower case only."""

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
CATEGORY PAL REQUEST IDE PACK PLAN FORCE STOP DAC ACE PPP EXEC FAST CSV PRODUCT LOWER FUN OVER WHAT SETTINGS ACC
SECOND USED ETH ADA BREAK CASE LOGIN FAIL GUID SEC WIDTH OLD RED LET PLEASE DIRECT SIDE CHILD CURRENT CONNECT REAL
PLUS CMP QUEUE DLL ZERO PHP STEP SAMPLE AVAILABLE ZIP WINDOWS AAC SAME SYNC SHIFT NOW BUS CENTER PRINT DEL BIG ACA
COM ROW READY
"""
"""One piece in capitals."""

UPPER_SPACED = """
LETTER LATIN SMALL CAPITAL SQLITE ALSO NOTES POSIX ALPHA EVP IDEOGRAPH WARRANTY COPYRIGHT AUTHOR YAML ATP KIND
WARRANTIES PPC SOUND STDERR CONDITIONS VLAN DAMAGES PURPOSE PARTICULAR FITNESS XHTML POD BASIS SUCH AUTHORS MIPS LLC
ABOVE GNOME HISTORY THREE GOT BUT POT SYMBOL PARTY LIMITED ECS LINUX SSA COPYING COMPONENT MUST CHARSET MPL HMAC LAW
NFS DOS TERMS INTERVAL OPTIONAL SERVICES CONSEQUENTIAL KDE LARGE LIABLE SPECIAL TTL ELF ANSI INCIDENTAL SPDX PROVIDED
OTHERWISE PEM ECB SHOULD COST LIABILITY SECURITY BIOS SOCK TWO LTS EVEN PERFORMANCE SHALL ARISING EITHER POSSIBILITY
ICU BELOW MIME ICMP CONSTRAINT TIMEOUT DIAG USERS IPV BEEN PARAMETERS INITIAL MODIFY HOLDERS MISSING SSR PUSH SLOT
EXTRA WHEN MAY CLOCK HOUR WILL THIRD ADVISED THERE NAT STATS DISPATCH DFA DHCP FORWARD DISCLAIMER BRAND SINGLE CST
RANGE NEGLIGENCE MACHINE FIFO TPM METHODS STRICT WHETHER HALF RESPONSE CONTRACT THAN REPL OVERRIDE BASIC ATM SUPPORT
STANDARD CVS STORAGE CHARACTER SOP PERMISSION APPLY GENERIC
"""
"""One piece in capitals after a space."""

PARTS = """
ard ize ent ers dis ine ated ized ous pro ies ish ell ore ling ism ley ity aut ization ier ath ings ance ton ide ary
ner ive ere ure ence ire ists ion ile abel ler ang ach bert ations ars ating ify ants ert ess ates sch ime ics ake
ern els itt ter erson ator ite ons pan ail ible ron ats eng ank ato lic ness ick pec ors iss ade ven ise ash ale sen
ium ung lev ith orn ious ystem ock ative ald ose ount ial ata ien ree ign ment ight ful ave ied fer ana vin ble vel
ust kit har ype mis ark ical ste ute imit oph ables ery ily istic mult ely ong inn stein rew ando ame phen ett oth
ally licant ots uel ocation isk ware urs slt pol ably ney ome izing ole ged ott ort uff inger cre isc ographic ugh
ura ster roc ology enn ache ified fre ford ual iness itz ander oll ump amb uth arry oot hol ians ict mer ost acy osh
ete poons cor unk mand iles ano ude ool ourn ison cho unt bian ators itch ities augh isation ado coll ically iet ils
ote ase bre ised ull ools ina mal ony oss ification atory gers oon ograph isp cher fort ali ents disc ifier ige ris
ette uck ari ices ering vis igh ona tro ines iel ior ific ress ource uro mann ama ement izes abb ati bro sim sal
bling ened ara odel gar aph omp pace ante ene ums och erv ple ulation ille iner ora ita ault edes irm serv idi ait
elt unch prec amente hel debian ota heits ient ico ult ams iously circ ched rog anc uns ric ync ili ese eter ield ias
quant mas hum opath roup ening udge ition umber mont erm rey olo gro ros ane acs ows illa inks ani hip ately ira ule
utter omas aster ular ange ito ously ures ios ero ions ives ente ello antic ags sey alf rou atic abor lich ites bon
rig udd uer atch uit ively emb uce izer pun uring ston ells ded ica ique idd med ister ological ory icks ped ighth
ased bel ibility ources ngr lef ises cle onic tes orm ound ches uch ush ting etermin extr ense ould ills rap ges iver
ugg ologist prof ments ination ency cer aged wis cken lar oke iques aud elog qual ect cape ager azione ays aires
anager urt itle wan ker lat ational olve alue inux uset uite arts ipro pres emp uous orge ality argin ais aaaa ork
hyper quer ibly acket irk ablo fore arily cci alk sson ipp quire ovan ored anth ido mith bul ography arl vent gal ody
mond ici ured rit sto aci ival ading angelog ward itude inx bur elling quet imm lect craft ola ulated witch anal
zione fil pac christ ves ensors ues illing aint tran ban kin gram iser ipe umb eno ond avel phy ains rop iest apping
ipl ished mic angel olog pers ktop hor aves hal ards ared ename iate buch ales gor contr etwork unn oston anted odes
nie hes mos ider zer ouse tele amy bor iling mor erman icker quot enti rian aks aba psych ters odie mmm opers hem bow
olang ilo nic aml pression ume igr utz hed antly autom ulate asp eta eler ancy aries igen ima mill teen uno nam isms
oping raz ided icom virt adr olt bench scp nen pect otic enny ishes rud ades ads kar eline iger burg icher ason urb
ails ocal ifs ovel udev nut iled aven uke forge bas itel iker ensive arel gress aking obi hon multip ince baum oin
atable cro itan uster mak mus rol inh adv nes ction phan ject dar elli ike ogs ivity ington icate heit ela uls rad
vir eds mente holm ifi avis ited ances uis mut vest iqu angled etr cam bie lick ither uper rie ifer aret ques bes
istr quest mel lessly expl mund oren auer ming hom agle angu ference aro wal azar ning cript olas imo occ omo sten
ater imer ogen ides ires ula lob urd athan ingly inal aded wer eder tra eref werk orth cnt iken aur ormal itive etype
icha ifiers cop lov jud ential hyp hir ibr ayed arian esh emy urses fen empt oud pon ying uan agan yst iding ader jer
gel umble lim arget gle ther opp ucky atus opher zilla oint bal aved inate som agg itus uzz gil rent ered ature uran
iac kins heck ulo fan iation rov ually dale ulates ility orian hib ently ender lap outines avi intr athy pit ardo uli
wat amin oub mlink dbl uild ican outs igs icast invest aming worm wyn pent ued aver oul lete bra libc caling ourcem
eee fst ione vard assi etrize olor apped orph alls ilt aken ieren atter oney actic wil othy spect chen osis precation
erms uble ellen hist inge incl grp ced inkle ience brew abil itors lass anto orp uffer bers pron ape rier acco asso
antes ging outine shr roff gie ervice ffi itate oun inct sters igan mot cret lam cod batim peak lop eli eman imus
oter ener uto rub
"""
"""Frequent inner and final parts of longer words."""

HEADS = """
dis aut sch ste ide har fre mis hol mult pro gro bro sim debian fro chang tro bre hyper pac sicher cor mor cam datap
dar cro pol bur gal wil luc mak christ coll mal implic configur mill cle sal ire gor mont sph ale ded uns fore tik
bel bun bas mer ter kar mas cop jer dbl bon hum mand anth hitch dere circum som meg syll imperson spl stan cod aqu
hel encaps carton rub bal kon hon bern sno amb mil pan oss hom til vul lev cre prov autom gran autop jose buck unt
fer dig gol lap rip bab ent iss hor kang ash wal dia cab pun sav dam gar ban mart systemd arab clo extr bay collabor
mus autos hal decom det nob multip autor kap lic intr hone aur sen autot tur mich quant vel tel unf laz rig nas
smiles incl prere bull hay occ desp monot mort circ pron gib kenn tele timed eng fan nab fil hip gall pur wel ele
optim dou bid bor intros forn lat med fort dun cul contr sil ell fal gra unde brit stall jud gig crit bow orth aggi
lust maj dit ven shr pent moz bip mut eff preced lim quot plat feb vir eig franc ign idi faq cad mant lag magn squ
psych transc mah eigen revis abst merchant kil sle fle pseud prem dav inde mourn prof schl fab slab bra mel pres ang
aud bass rut dic dum harmon ris mir ped nic autoc renew ton lam bog beh qual absurd posix arn emb russ ratt wat
virgin unic hob tam sne instal gdb prote lob cub supers wol cid hyp libr interpol footnote comprom vide dut inn nut
cac sul memor arist lamp
"""
"""Frequent first parts of longer words, after a space."""
