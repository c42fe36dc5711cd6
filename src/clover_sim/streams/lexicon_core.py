"""Words that subword vocabularies keep whole in every position, most frequent first.

Counted in free documentation, manual pages and library sources of several languages, and checked for being one piece
in two published vocabularies (Qwen and o200k). Plurals and other regular forms are derived by rule where they can be.
"""

CORE = """
the and for this you that class with not are name type from file self return all can div code will use value have get
string org set when but span version new package your one any only list which default html was may end has they time
key test command see should used path node function other request data http license func there error line what field
user source files add true more def system some number out instance import make section location messages config like
text must service const none also method object message then update who int com don linux run index than man case
about project begin group item his these else api para example err resource params strong them format title how
options var using array description work args policy into want size first document output after without would just
does false create option types projects their been same flags its map each base under where argument state such read
values link nil given people right available www locations mode call module reference now next help check before
letter build content global flag packages information root start access program kernel input configuration result two
alpha software returns info log directory left interface sub never response way process token need even image target
device change str context property know param copy print because always release arguments fix fields following
required note attribute length off good assert over since null page most cloud found free security copyright let
public url here wall client last common head order open non were block translation control perl strings had range len
documentation well pre write network small filter dir life latin remove being long match beta changes old src current
instead table style google original provide filename account back too said might language details address optional
doc bug label operation those best find put names dev ref delete include query local main medium library our while
date mark defined could world kind home support parameters either buffer init think author tools pod event simple
take things parent server lib many script got keys standard additional contains unless users unit nothing git foo
changed max element arg empty point means net core day bytes down pass between level very both port added color terms
comment possible provided part export manual give love entry action form json another status tag variable him made
cache developers specific say bool through body done why ast math count application functions space enabled show
something per prefix parse better rel symbol commit whether single every own except try compute header general utf
once called errors patch full struct different float english within meta bugs internal machine parser load commands
ext her much css equal short character testing obj running keep she entries reflect environment versions pos apt
limit cannot above avoid examples notice law based notes parameter top lines rules append rights sure allow stop
services graph region encoding generated sign attributes require thing really scope metadata still enum three
previous template boolean little sort expression resources supported already bad signature nodes wide push spec
memory bit github break please properties install makes setting distribution capital describe enable did fixed
integer close tests socket byte disable created fortune later anything hash display material handle special great
tags die report future otherwise multiple going debug real cmd database search job locale come draw operations apply
however xml look ever child large second below generator labels objects identifier named texture uses least tree
characters place relative literal width lists offset ignore warning men exit mount problem less currently big conf
define rule send written tell private binary children via light signal energy shift stream results bar align until
again strict valid everything raise unix unicode split word dict modified matrix takes needed position syntax runtime
complete zero seen groups systems allowed around docs yet pages site times passed msg authors fully figure covered
clear uint feature years switch cluster lost yes against host trace min container shell low session related
conditions undefined pattern bind static known someone mac res active normal usage having present namespace side pool
ask requires void condition scale history expected writing team including domain exception person sun during role
join invalid instances god continue raw upload env store words font password defaults settings extension reason doing
expr mean turn edge storage supports tex maximum modify live reserved sections initial usually configure important
slice generate year num central sets replace templates double high console contents est west computer removed
permission web util hard shape char mind mask des digest away disk view wrong backup few timeout works random sys
component rest protocol proc parts shall variables thanks window rather pointer correct news remember force installed
sup stack days east often zone alt calls analysis fact mapping model post provider others exists manager course
python auto updated scripts woman deprecated render arm connection needs gets norm extra depth recommended included
boot actually human power permissions returned exec custom backend subject les master missing uri blue effect unknown
merge allows methods archive external devices cause binding echo attr modules windows app numbers win screen whole
clock wait term center repository issue vector share shared question engine img able macro escape extended lambda
developer sha cut article feel drop existing sources async hand pour working apache buf mail points fail select
certificate task definition basic edit save failed callback distributed quote skip copies stable implementation
associated constant override family que reading items units money images night algorithm probably upon bus utils move
elements credentials prev pull week product thus answer exist four necessary kill endpoint driver built login listed
flatten helper john making sec failure member platform secure weight starts tool half sequence super nature download
purpose red loop val proto features extract accept guide matches iso references transform issues bucket updates
bridge sent thread bits won elem major channel branch everyone billing book keyword today dead trying includes along
leave applications record remote frame managed seconds lower paths south latest ptr loader email black builder
collection mod stuff diff consider cover destination generic installation lot moment choose geometry margin signed
headers sometimes thought hardware blocks constraint statement java care quiet register height reader follow todo
truth choice far nav cipher jan interval paper technical priority execution bin compiler received comes ordered
checks agent column statistics easy documents car traffic events matching depends clean vec front chapter exp though
sound axis handler behavior friend fill txt almost death interfaces dog summary cases ensure opt auth dependencies
upgrade white learn face pack snapshot eat alias dynamic lookup alan fun track comments sum early architecture party
addr went matter step reports ones cap wish metal variant success deep women terminal final requests inf plan finally
idea extend tuple third due validate convert packet structure stats scalar taken plus schema flat sense sat stored
management wiki actual sie questions unique disabled safe box dump inside started minimum expect secret inc verb nor
logging young revision looking cancel pdf absolute forward bold beer complex fatal starting organizations wife warn
symbols compile regex choices identity maybe owner une organization looks similar amazon cat setup oct translate
timer journal progress water resolve throw eval del sql dot cert layout shadow extensions numeric game came links
proxy creating fake hours lang hope ways addresses visit regular experience age handling watch reset vous operator
dictionary total magic drink fast languages delay pop decl mon assign rate experimental buy dependency deleted five
border limited multi desc worth flow minutes round getting profile house bottom minor mother months exceptions
creates runs war comp selector entity raises sep sig hour fall libraries fit clients inner country direction
definitions queue typ members lock loaded acid states depending older verify der foundation media attempt imports
friends hub broken native receive idle heart adjust earth sample individual according calling prototype batch
licensed limits month meaning food effective caller amount origin trust par route panic period jun delta gen charset
quite art performance formats dist sync sur solution emit qualified direct generation worker contact nice props mesh
topic abstract changing distance abs declare difference edu deployment especially caption catch requirements refer
rpc ident virtual rename hold cost act basis six alternative actions dark manage pretty adding suite doctor chan
union green eth greater rand jobs decode released writer dec guess execute clone folder controls deb constructor
cross volume wed tcp tab automatic published mention wrap creation negative req row checking aws defines trigger
practice layer renderer although expand connect menu encode forms chunk pure admin primary swap shows whatever seed
classes restore legal living wrapper hit bound government ends gmail utility yield series linear hidden decimal flex
fine speed sleep listener heading camera adds keywords prevent offer outside building waiting sorted dep air
partition hey soon scheme category quotes threads targets forget audit boy crypto grave development wanted prompt
past legacy von respect timestamp internet closed vertical pending door fetch higher cycle heard cleanup processing
drive perform hook uniform average city walk assigned play happy aren modern laws rich floor visible business hear
alone compare school formatter components tar transition filters patterns proper tap connections trim quality pair
logs factor taking health tail attached cold retry deal und constraints duration desired science authentication hello
detect sty pay protect area selected insert degree aug card positive membership american nov leading principal
translator decoder sam review allen pot implement paragraph signals normally perhaps exact company resolution che
maintenance scan physical charge eyes brain ready plain background cursor arch girl pipeline temp prop cookie listen
critical atomic mit compatible perfect hands peer gone interesting fire iterator prior controller vertex mounted gov
room pick lexer upper explicit zip street shutdown bill titles gtk express interactive overview knowledge late maint
places pad talk logic spaces score anchor minimal repeat chain qui tracker middle stand accepted plane instructions
apr temporary validation shot secondary flush assignment prints lose selection startup radius phase destroy printed
button grant fonts xxx inline zones servers ago pas dos discussion descriptor eye misc design facts ten lead thinking
blank inst among near observer pipe docker remaining colors meet ret precision weak isa solve enter opening abort
partial typically ordinary prime office threshold hooks cast illegal claims cli nick bring produce dash digit picture
mar arrays sorry registry ctrl reduce transport conversion implements stay shader sit browser parents stat schedule
codes bed sin lights checked comm ring hint stage constants padding dispatch star orig interest wise seven horse miss
tracking asking roles claim duplicate combined possibly tom race overlay vim preferred north fly navigation minute
regions letters recommend son bash tokens dest das slot gateway hex loading fragment father successful highlight
segment conn ship migration tables editor advanced saved arrow reverse mul detail hot tasks lie ground carry consumer
connected pager pitch evil slow paging price ideas seek court ball encrypt oracle customer maps overflow pub nan
records cron breaking parallel natural accounts dat concept mouse beautiful invoke sentence lord lies con restart
fish inputs voice attention grow identify benchmark vendor unexpected king closing promise vote amp representation
transparent serial steps separator holder met dataset transfer retrieve elf dom percent recent coffee capacity
finding bounds arr alive immutable seat soft ratio depend unsafe repo reads structures jack piece slash peace ports
factory reach prepare initialize dummy thank resolver administrator router cos spot glass listing finish coding colon
bare phone sending helpers anonymous wheel scroll audio logical directive metric tok cached ben fleet roots
instruction ease touch million columns gamma publish models baby avec apple mostly acc una loc aggregate cats hat
education outer trusted rows covers catalog hell hide sessions stores nested providers levels quick ran ray routing
learning broadcast hair scene compression attack conc serve pip col poly foot strength particularly yeah stub social
submit queries reply held baz monitor prefer corner angle phrase recursive road online matcher community candidate
association falls story blob authorization payload national derived press square odd kids intl animation strip
procedure okay mes land agree holds publisher asset sell los installer legs outputs born finished boundary attach
heavy counter wear std justice mandatory ahead metrics collect salt increase wrapped weeks female coming grammar
ability resp reject conditional notification loss essential mine division measure welcome bundle glob joy sol
construct thy rev girls normalize completion exercise motion ist music calendar personal utilities cool ain pain
workflow risk town potential wild mouth jump bootstrap reload strategy forced placeholder encoder linked coach permit
plugin handles sans controlled sym hole blind located rose teams typed heads gain movie writes dry dispose completed
seq relation stroke sizes fee answers persons notify authorized books fern bird validator placement atom ice await
materials availability popular lazy speaker prediction fork pieces study exclusive lets sea iter activity protected
sed relationship credential tre triangle auf effects replacement guard apps trees enterprise predicate nation
friendly formula allocation sky bob seeing converted haven evaluate rect rotation pig accent ord deploy busy
persistent canvas fred inv transaction severity blur modifier annotation offers curve toggle van proof moon equals
cup fitness refresh fat faith keeping eight activation imp skin activities embedded locked quantity travel desktop
omega wind incoming reservation raised interaction hall quit scanner integration playing beat noise highest deadline
traditional daily globals intel male rock entities crime tout fair marker stick mirror fault articles collections
incorrect alternate icon ownership graphics official rewrite fight mat decision comparison aux recover username
surface coordinate mental bear grid smart homepage predict dim represent visual delivery brown cube lesson hack
attachment kid primitive counts sel combine straight reg wake speech draft responses boys brand gold cond warm moving
commercial inform quad tone clip authority ser fig scheduled visitor fell initialized android boss student animal phi
svg divide cell dimensions advance adj resume leaf ending fresh marks feed tie holding technology alter accuracy
manifest duck loads pixel mime edition tensor sweet trap tiny alignment runner church exc forces judge walking summer
epoch feedback lots mix sphere dream contract activate unsupported processor restricted ride operators usa board
react former redirect ein efficient impl chem dimension contributors intro views projection brief glyph stone faces
orange maker mem heap horizontal forest communication printing positions goal spread telephone trial flight probe
intent standing college arms balance desk products ordering drivers impact tax routine teacher cream vision keyboard
bright owned pause registered streams wire ver spell credit calculate research leg den orders gas scheduler profit
php ber pressure alloc nat perf printer slots song smith snow sale san confidence birth presence unlock assembly hop
roll restaurant bread neighbor saving discover como wine bone film rain band ultimate acting capture focus floating
blood favorite physics professional overall leader continuous subscription vol bite blend hang foreign students cards
thin video rabbit animals ann contrast trip gray participant asia dirty bell guest indexed prepared train mutex
resize sold coverage curl samples sharing expanded club moves damage tested mom gender lit categories adam degrees
javascript shoot luck conversation logo dance paid sounds composer chief department quarter planet pare dogs culture
cheap checker tea launch unable ubuntu favor editing routes alice aside healthy intersection ken profiles assets
frames evaluation layers workspace scratch por brush construction yellow archives bios paint multiply sharp pak
frequency season verification meth approval hunter plot lake lay assuming oil fruit income cash allocate patient
circle cake pizza cow experiment wizard lite incident channels iterate wood rise slave cars enemy functional stars
proposal likes sta rum nine recipe tip cry currency presentation sect papers mass rectangle birds alert forgot ces
production als gun lover framework fraction crypt mixed silent camel receiver tips connector producer artifact budget
styles silver ack snake strike countries tim dialog repair markdown poster river extras criteria lane poll committee
drawing roman station solver mad daughter gift diet vault kat edited bio ens instant bag dyn announcement customers
subscribe containers cells bat sad anti selling weapon games bos offline picker conv constitution mars plays rom pole
dan exchange solid ear undo meeting pat privacy acts inch vice jac equipment spring artist ins throws bet battle
collapse vue bank burst nel develop compact finger park international mapper hill mol plugins fluid perm logged dates
tri flowers fed sink electric relationships grass dad measurement sem wie hits azure ada stamp aspect neutral winter
workers rat ticket sing sites tabs percentage spark tick reserve sorting dem lowest wealth sports aid swift football
skill fold movement marketing smooth las ses borrow csv mess contacts training invite bee viewer played pow bullet
pictures controllers uni spawn mutable gui gradient pin engineering density western conference rank aim asc prot
coordinates bones expert rid pie preview tech closure submitted alarm alex wit registration ace ram verified employee
semi dress era mary digital drag cas notifications hammer shopping drug career zen receipt objective partner gravity
holiday preferences lion shortcut shake spi polygon egg seg ind lab paste enc gre uma mid tracks colour bond
inspection pen trade classic cookies theme danger cur este bitmap grand increment esc prices tier realm checkout
estimate ops bias plans logger queen employees sole deg flash serialized neck commerce cons farm phil comfort
balanced wash roads schools jury pleasant shirt hospital guns rotate chart grey fits agents facility vid rep
collector credits ages interrupt sigma mia appearance serialize finder growth enh tutorial dent creator gene redis
horn consult associate reflection dont lin rob pipes adapt species birthday nom rolling inventory click posted pink
rag kick powers shipping tan banana prod sic yard micro fiction variation bearing civil terror approved lift
visibility woods cha sampling website elle memo approx collision subjects creative photo caps leo tol goods alerts
commons btn heat radio frag mock topics pet adaptive ambient lands cone carrier grad alo interpret priv vet thumb
rough peek fin lex semantic indicator serialization hopefully wolf cyan continued shop leaders graduate led sender
storm graphic ruby votes plant infer converter fried camp stories songs sticky challenge writers market geo weekly
bomb intern classification mach payment ups att killer lan sid director marshal authenticate outline pic posting
pixels cook player calc fortunately fac icons industry shares mag dal knife stock rot medical deliver flip woo plug
ping wallet medicine frog tin operand lid hero portrait homes chr vert reward expense relations gap hotel crow
insurance firm ideal embed exam chair walls ren shore league movies heroes players footer han companies panel masters
syn compound portal competition charges electron centre tube theta spin actor fur areas blog rust ger dup pref ink
drops fade plate balls china trans liste getter gate wave hunt cont browse tor rio hood ensemble pivot habit blo vers
rem hung widgets purchase weather berg vor blocking flower firebase iron slide arc median aff vehicle orientation
sheet populate belt jwt gin burn district joined serializer tester wins bot chains staff downloads beam cart pal roy
airport demo rear lem sand coat plants pants biology tank deck ont financial citation dispatcher wow alg temperature
ich purple coal fox trait studio landing ham flu wishlist ill sprite ips infos pred chip uploaded dragon cel bye hen
relay stress dag bean raid cal tile beg rod ant ing population ans lad county setter scores simulation analytics
grade cent neg difficulty robot velocity adapter motor rec communications mods sport mission lod dee chi sons casting
respond opens opcode screens singleton rocket truck adult aus alle fiber elect validators rates organ remark rush jar
shots fans foods drawer films builders diamond ajax chap inter ini inflate lease connecting trail meter
"""
"""One piece with or without a leading space, in lower case and capitalised."""
