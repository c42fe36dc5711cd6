"""Frequent parts of longer words.

Same counting and same check as ``lexicon_core``.
"""

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
icha ifiers cop lov jud ential hyp hir ibr ayed arian esh emy urses fen empt oud
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
aud bass rut dic dum harmon ris mir ped nic autoc
"""
"""Frequent first parts of longer words, after a space."""
