/** How mail programs introduce the mail that somebody answers. Where no form is common to all languages, in those of Gmail,
 *  Outlook, Apple Mail, Thunderbird, Yahoo and GMX. Each test reads a line once. */

/** Longer lines are texts. */
export const LONGEST = 400

/** `On Monday, Ann <ann@example.com> wrote:` → true. Behind marked lines, two of time, address and verb suffice with the
 *  date, in any language. Zoho writes dashes for the colon. A line that begins with other words has text of the author's. */
export function isAttribution(line: string, isMarked: boolean): boolean {
  if (line.length > LONGEST || !(/[:：]$/.test(line) || isDashed(line))) return false
  const words = withoutAddresses(line)
  const known = [TIME.test(words), words.length < line.length, VERB.test(line)].filter(Boolean).length
  return DATE.test(words) && known >= (isMarked ? 2 : 3) && !hasTextBefore(line)
}

/** Their digits are no date. */
const withoutAddresses = (line: string) =>
  line
    .split(' ')
    .filter((word) => !word.includes('@'))
    .join(' ')

/** `Quoting Ann <ann@example.com>:`, as Horde introduces marked lines in any language → true. */
export function isSender(line: string): boolean {
  return line.length <= LONGEST && line.endsWith('>:') && line.includes('@', line.lastIndexOf('<'))
}

export const isDatedAddress = (text: string) => text.includes('@') && DATE.test(text)

/** `March-19-11 5:42 PM` → true: not every date has a year of four digits. */
const isTime = (text: string) => DATE.test(text) || TIME.test(text)

const DATE = /\p{Nd}{4}|\p{Nd}{1,2}[./-]\p{Nd}{1,2}[./-]\p{Nd}{2}/u
const TIME = /\p{Nd}:\p{Nd}{2}|\bkl(?:o|ockan|\.)? ?\p{Nd}/u
const VERB =
  /wrote|schrieb|schreef|gesch?r(?:ieb|ev)en|écrit|escribió|scritto|escreveu|skrev|napisa|kirjoitti|написа|пишет?|写道|寫道|のメール|のメッセージ|さんは書きました|작성|쓴 글|yazdı|napsal|írta|έγραψε|כתב|كتب|كتابة/i

/** `Thanks On Wed, Apr 4, 2026, Ann wrote:` → true: some programs write the attribution behind the author's last words. */
const hasTextBefore = (line: string) => TEXT_BEFORE.test(line)

const TEXT_BEFORE = /[\p{L}\p{N}.,!?)][ -]+(?:On|Am|Le|El|Op|Em|Il) (?:\p{L}{2,9}[.,]? ){0,2}\p{Nd}/u

const isDashed = (line: string) => line.startsWith('---') && line.endsWith('---')

/** `>>> Ann <ann@example.com> 11/23/2026 9:41 AM >>>`, by which GroupWise begins a quote without marks → true. */
export function isGroupWise(line: string): boolean {
  return line.length <= LONGEST && line.startsWith('>>> ') && line.endsWith(' >>>') && line.includes('@')
}

/** `##- Please type your reply above this line -##`, by which a help desk begins its mail → true. */
export function isReplyAbove(line: string): boolean {
  if (line.length > LONGEST || !/^[-=#*_]{2}/.test(line) || !/[-=#*_]{2}$/.test(line)) return false
  return line.startsWith('##-') || /\babove this line\b/i.test(line)
}

/** Line before a forwarded mail → true. */
export function isForwardMark(line: string): boolean {
  if (line.length > LONGEST) return false
  const text = line.replace(/^[> ]+/, '').toLowerCase()
  if (!text.startsWith('---')) return FORWARDS.test(text)
  return DASHED_FORWARDS.test(text.replace(/^[- ]+/, ''))
}

const DASHED_FORWARDS =
  /^(?:forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado|messaggio inoltrato|mensagem encaminhada|doorgestuurd bericht|vidarebefordrat meddelande|videresendt|пересылаемое сообщение)/
const FORWARDS =
  /^(?:begin forwarded message|anfang der weitergeleiteten|début du message (?:transféré|réexpédié)|inizio messaggio inoltrato|inicio del mensaje reenviado|begin doorgestuurd bericht)/

/** `-----Original Message-----` → true. */
export function isOriginalMark(line: string): boolean {
  return line.length <= LONGEST && /^[-‐]{3}/.test(line) && ORIGINAL.test(line.replaceAll(/[-‐]/g, '').trim())
}

const ORIGINAL =
  /^(?:original ?message|originalnachricht|ursprüngliche nachricht|message d['’]origine|mail original|message original|mensaje original|messaggio originale|mensagem original|oorspronkelijk bericht|ursprungligt meddelande|oprindelig meddelelse|oprindelig besked|opprinnelig melding|oryginalna wiadomość|wiadomość oryginalna|původní zpráva|alkuperäinen viesti|исходное сообщение|eredeti üzenet|orijinal mesaj|özgün ileti|αρχικό μήνυμα|原始邮件|原始郵件|元のメッセージ|원본 메시지)$/i

/** Whether the header that Outlook writes begins here: lines with a sender, a subject, a date and an address; behind Outlook's own
 *  line, three labels in any language and a date. */
export function isHeaderBlock(lines: readonly string[], at: number): boolean {
  if (/^_{20,}$/.test(lines[at]!)) {
    const labelled = lines.slice(at + 1, at + 4)
    return labelled.every((line) => labelOf(line) !== null) && labelled.some((line) => DATE.test(line))
  }
  const values = new Map<keyof typeof LABELS, string>()
  for (const line of lines.slice(at, at + 7)) {
    const label = labelOf(line) ?? ''
    const kind = KINDS.find((kind) => LABELS[kind].test(label))
    if (kind === undefined) break
    values.set(kind, line)
  }
  const hasAddress = [...values.values()].some((line) => line.includes('@'))
  return values.has('from') && values.has('subject') && isTime(values.get('sent') ?? '') && hasAddress
}

/** `*Von:* Ann` → `von`; null if it is no line of a header. */
function labelOf(line: string): string | null {
  const colon = line.length > LONGEST ? -1 : line.search(/[:：]/)
  return colon <= 0 || colon > LONGEST_LABEL ? null : line.slice(0, colon).replaceAll('*', '').trim().toLowerCase()
}

const LABELS = {
  from: /^(?:from|von|de|da|van|från|fra|od|от|від|από|feladó|发件人|寄件者|差出人|보낸 사람|kimden|lähettäjä|מאת|من)$/,
  sent: /^(?:sent|date|gesendet|datum|envoyé|enviado|enviado el|enviada em|fecha|inviato|verzonden|skickat|sendt|wysłano|wysłane|data|дата|отправлено|надіслано|στάλθηκε|elküldve|发送时间|寄件日期|送信日時|보낸 날짜|odesláno|gönderildi|gönderme tarihi|lähetetty|päivämäärä|נשלח|תאריך|تم الإرسال|تاريخ الإرسال|التاريخ)$/,
  to: /^(?:to|cc|an|à|a|para|aan|till|til|do|кому|προς|címzett|收件人|收件者|宛先|받는 사람|참조|抄送|kime|komu|vastaanottaja|kopio|kopie|אל|إلى)$/,
  subject:
    /^(?:subject|betreff|objet|asunto|oggetto|onderwerp|assunto|ämne|emne|temat|тема|θέμα|tárgy|主题|主旨|件名|제목|konu|aihe|předmět|נושא|الموضوع)$/,
}
const KINDS = ['from', 'sent', 'to', 'subject'] as const
const LONGEST_LABEL = 20

/** The line that programs of phones write below an answer → true. */
export function isMobileLine(line: string): boolean {
  const text = line.trim().toLowerCase()
  return text.length <= LONGEST_MOBILE && DEVICE.test(text) && (MOBILE.test(text) || MOBILE_ENDS.test(text))
}

const LONGEST_MOBILE = 150
const MOBILE =
  /^(?:sent (?:from|via|with) |get outlook |gesendet (?:mit|von) |outlook für |holen sie sich outlook |diese nachricht wurde von mein|envoyé (?:de|depuis|à partir) |télécharger outlook |enviado (?:desde|do|de) |obtener outlook |obter o outlook |inviato da|scarica outlook |verstuurd vanaf |verzonden vanaf |outlook voor |skickat från |hämta outlook |sendt fra |hent outlook |lähetetty |wysłane z |отправлено (?:с|из) |надіслано з |odesláno z |odoslané z |elküldve |trimis de |στάλθηκε από |发自我的|從我的|나의 |נשלח מ|أ?ُ?رسلت من)/
const MOBILE_ENDS = /^von mein.{1,60} gesendet$|から送信$|を入手$|gönderildi$|에서 보냄$/
const DEVICE =
  /iphone|ipad|android|outlook|samsung|galaxy|handy|mobil|phone|blackberry|huawei|xiaomi|pixel|superhuman|spark|gmx|web\.de|(?:yahoo|proton|aol|blue|k-9|tuta)[ -]?mail|mail for |почты mail/
