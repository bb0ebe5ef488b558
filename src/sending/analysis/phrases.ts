/** Phrases of spam, bulk mail and free mailboxes, as data. Our choice, in English, German, French and Spanish;
 *  matched as whole words in lower case. */
export const SPAM_PHRASES: readonly string[] = (
  '100% free; act now; additional income; all for free; amazing deal; as seen on; best price; be your own boss; ' +
  'big bucks; buy direct; call now; cash bonus; casino; cheap meds; claim your prize; click here now; click now; ' +
  'congratulations you won; congratulations you have won; credit card offer; dear friend; do it today; ' +
  'double your; earn extra cash; earn money; eliminate debt; extra income; fast cash; financial freedom; ' +
  'free access; free gift; free money; free offer; get it now; get paid; get rich; hurry up; increase sales; ' +
  'limited time; lose weight; lowest price; make money; million dollars; miracle; money back; no catch; ' +
  'no credit check; no obligation; no risk; no strings attached; offer expires; once in a lifetime; only today; ' +
  'order now; passive income; payday loan; risk free; risk-free; satisfaction guaranteed; special promotion; ' +
  'this is not spam; urgent response; viagra; weight loss; what are you waiting for; while supplies last; ' +
  "work from home; you are a winner; you have been selected; you won; you've won; gratis geschenk; geld verdienen; " +
  'jetzt kaufen; jetzt zugreifen; nur heute; schnelles geld; sie haben gewonnen; ohne risiko; garantiert gewinnen; ' +
  "argent facile; gagner de l'argent; offre limitée; vous avez gagné; sans engagement; " +
  'dinero fácil; gana dinero; has ganado; oferta limitada; sin compromiso'
).split('; ')

/** Each suggests bulk mail. */
export const BULK_PHRASES: readonly string[] = (
  'newsletter; unsubscribe; special offer; sale ends; shop now; discount; coupon; promo code; % off; ' +
  'view in browser; view this email in your browser; new arrivals; weekly digest; our latest; black friday; ' +
  "you are receiving this; you're receiving this; abmelden; abbestellen; rabatt; gutschein; im browser ansehen; " +
  'angebote der woche; se désabonner; désinscrire; soldes; darse de baja; descuento; cancelar suscripción'
).split('; ')

/** Texts and targets of unsubscribe links. */
export const UNSUBSCRIBE_WORDS =
  /unsubscri|opt[-_ ]?out|manage (?:your )?(?:email )?preferences|email[-_ ]preferences|abmeld|abbestell|austragen|d[ée]sabonn|d[ée]sinscri|darse de baja|cancelar (?:la )?suscripci|disiscri|uitschrijven/i

export const FREE_MAIL_DOMAINS = new Set(
  (
    'gmail.com googlemail.com yahoo.com yahoo.co.uk yahoo.fr yahoo.de ymail.com outlook.com hotmail.com hotmail.co.uk ' +
    'hotmail.fr live.com msn.com aol.com icloud.com me.com mac.com proton.me protonmail.com gmx.de gmx.net gmx.com web.de ' +
    't-online.de freenet.de mail.ru yandex.ru yandex.com qq.com 163.com 126.com naver.com orange.fr free.fr laposte.net ' +
    'libero.it mail.com zoho.com tutanota.com fastmail.com'
  ).split(' '),
)

/** Text → the phrases that it contains as whole words. */
export function phrasesIn(text: string, phrases: readonly string[]): string[] {
  const lower = ` ${text.toLowerCase().replace(/[’‘]/g, "'")} `
  return phrases.filter((phrase) => {
    for (let at = lower.indexOf(phrase); at >= 0; at = lower.indexOf(phrase, at + 1)) {
      if (!LETTER.test(lower.charAt(at - 1)) && !LETTER.test(lower.charAt(at + phrase.length))) return true
      if (phrase.startsWith('%')) return true
    }
    return false
  })
}

const LETTER = /[\p{L}\p{N}]/u
