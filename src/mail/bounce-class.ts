import type { Reply } from './reply.ts'

/** Why a mail was refused, as far as the reply says. `system` is a fault inside the receiving system; `network`, `tls`
 *  and `protocol` also cover faults without a reply. */
export type BounceClass =
  | 'no_mailbox'
  | 'no_domain'
  | 'mailbox_full'
  | 'mailbox_disabled'
  | 'policy'
  | 'reputation'
  | 'content'
  | 'authentication'
  | 'rate'
  | 'greylist'
  | 'size'
  | 'network'
  | 'system'
  | 'tls'
  | 'protocol'
  | 'unknown'

/** A refusal and the rule that classified it, so that wrong classifications can be traced. */
export interface Classified {
  class: BounceClass
  rule: string
}

/** Reply that refused a mail (4yz or 5yz) → its class. In this order: texts more precise than their codes; under x.1.z,
 *  texts that blame the sender or a temporary state, since many servers use 5.1.1 for any refusal at RCPT; the enhanced
 *  status code; general texts; the reply code. Otherwise `unknown` with rule `none`, also for a bare 550, since a guess
 *  would suppress valid addresses. Never throws. */
export function classifyReply(reply: Reply): Classified {
  const text = withoutAddresses(reply.text.slice(0, LONGEST_TEXT))
  for (const rule of KNOWN_TEXTS) {
    if (fits(rule, reply, text)) return { class: rule.class, rule: rule.name }
  }
  const detail = reply.enhanced?.slice(2) ?? ''
  if (detail.startsWith('1.')) {
    const blaming = GENERAL_TEXTS.find((rule) => OTHERS_FAULT.has(rule.class) && fits(rule, reply, text))
    if (blaming !== undefined) return { class: blaming.class, rule: blaming.name }
  }
  const coded = ENHANCED[detail]
  if (coded !== undefined) return { class: coded, rule: `enhanced-${detail}` }
  for (const rule of GENERAL_TEXTS) {
    if (fits(rule, reply, text)) return { class: rule.class, rule: rule.name }
  }
  const vague = VAGUE_ENHANCED[detail]
  if (vague !== undefined) return { class: vague, rule: `enhanced-${detail}` }
  const plain = REPLY_CODES[reply.code]
  if (plain !== undefined) return { class: plain, rule: `code-${reply.code}` }
  return { class: 'unknown', rule: 'none' }
}

/** Removes addresses, whose parts mean nothing: `<sorbs@dest.example>`. */
function withoutAddresses(text: string): string {
  return text.replace(/<[^<>\s@]{1,64}@[^<>\s@]{1,255}>/g, '<address>')
}

interface Rule {
  name: string
  class: BounceClass
  /** Enhanced status code that the rule requires; absent: any or none. */
  enhanced?: RegExp
  /** First digit of the reply code; absent: 4 and 5. */
  only?: 4 | 5
  /** The whole reply code; absent: any. */
  code?: number
  text: RegExp
}

// The reader bounds replies, but patterns only need the first lines.
const LONGEST_TEXT = 2_000

/** Classes that do not mean a missing mailbox. */
const OTHERS_FAULT: ReadonlySet<BounceClass> = new Set([
  'rate',
  'reputation',
  'greylist',
  'authentication',
  'tls',
  'network',
  'mailbox_full',
  'mailbox_disabled',
  'content',
  'policy',
  'size',
  'system',
])

/** Texts of one known server, or so clear that they outweigh the code beside them. */
const KNOWN_TEXTS: readonly Rule[] = [
  // Gmail ends each reply in `… gsmtp`; 4.7.28 is about reputation, 4.2.1 about a busy mailbox.
  {
    name: 'gmail-rate-of-mailbox',
    class: 'rate',
    enhanced: /^4\.2\.1$/,
    text: /receiving (?:mail|email) (?:at a rate|too quickly)/i,
  },
  {
    name: 'gmail-unsolicited',
    class: 'reputation',
    enhanced: /\.7\.(?:0|1|28)$/,
    text: /unusual rate of|likely (?:unsolicited|suspicious)|very low reputation|low reputation of/i,
  },
  { name: 'gmail-tls', class: 'tls', enhanced: /\.7\.29$/, text: /TLS/i },
  {
    name: 'gmail-authentication',
    class: 'authentication',
    enhanced: /\.7\.(?:2[0-9]|3[0-2]|40)$/,
    text: /gsmtp|gmail/i,
  },
  { name: 'gmail-daily-limit', class: 'rate', enhanced: /\.4\.5$/, text: /daily .{0,40}sending limit/i },
  // Outlook.com and Exchange Online.
  { name: 'outlook-no-recipient', class: 'no_mailbox', enhanced: /^5\.4\.1$/, text: /recipient address rejected/i },
  {
    name: 'outlook-banned-address',
    class: 'reputation',
    enhanced: /^5\.7\.(?:511|60[6-9]|6[1-4]\d|70[5-8])$/,
    text: /banned|access denied|blocked|threshold|low reputation/i,
  },
  {
    name: 'outlook-block-list',
    class: 'reputation',
    text: /messages from \[?[\d.:a-f]+\]? weren't sent|\bS3150\b|\bS3140\b|block list \(S/i,
  },
  { name: 'outlook-authentication', class: 'authentication', enhanced: /^5\.7\.(?:509|515)$/, text: /./ },
  {
    name: 'outlook-ratelimited',
    class: 'rate',
    text: /\bRP-00[1-3]\b|server busy.{0,200}\bAS|temporarily rate limited|AS\(4?901\)/i,
  },
  {
    name: 'exchange-restricted',
    class: 'policy',
    text: /RESOLVER\.RST\.(?:NotAuthorized|AuthRequired)|not authorized to send to (?:the|this) (?:recipient|group)/i,
  },
  { name: 'exchange-not-found', class: 'no_mailbox', text: /RESOLVER\.ADR\.(?:\w*NotFound|RecipNotFound|Invalid)/i },
  {
    name: 'exchange-quota',
    class: 'mailbox_full',
    text: /STOREDRV\.Deliver.{0,400}(?:QuotaExceeded|mailbox full)|MapiExceptionShutoffQuotaExceeded/i,
  },
  {
    name: 'outlook-mailbox-unavailable',
    class: 'no_mailbox',
    only: 5,
    text: /requested action not taken: mailbox unavailable \(-?\d/i,
  },
  {
    name: 'outlook-domain-not-reachable',
    class: 'no_domain',
    only: 5,
    text: /because the domain is not reachable\. Please check the domain/i,
  },
  { name: 'facebook-preferences', class: 'policy', text: /\bRCP-P2\b|due to recipient preferences/i },
  { name: 'messagelabs-rejected', class: 'no_mailbox', code: 542, text: /^\S+ rejected/i },
  { name: 'bigfoot-invalid-recipient', class: 'no_mailbox', only: 5, text: /^invalid recipient \S+ \(mode: normal\)/i },
  // au (KDDI) also answers this when its customer's filter refuses the sender.
  { name: 'au-filtered', class: 'policy', text: /^: user unknown/i },
  // qmail: the operator's list of refused addresses.
  { name: 'qmail-refused-recipient', class: 'policy', text: /\bbadrcptto\b/i },
  // Yahoo and AOL: codes in brackets.
  { name: 'yahoo-no-account', class: 'no_mailbox', text: /user doesn't have a [\w.]+ account/i },
  { name: 'yahoo-deferred', class: 'reputation', text: /\[(?:TSS?\d\d|BL\d\d)\]/ },
  { name: 'yahoo-greylist', class: 'greylist', only: 4, text: /\[GL\d\d\]/ },
  // Filters in front of mail servers.
  {
    name: 'proofpoint-reputation',
    class: 'reputation',
    text: /(?:blocked|see|visit).{0,60}(?:ipcheck|dnsbl-?ipcheck)\.proofpoint\.com|proofpoint.{0,60}(?:blocked|block list)/i,
  },
  {
    name: 'mimecast-greylist',
    class: 'greylist',
    only: 4,
    text: /internal resources? (?:is|are) temporarily unavailable.{0,80}mimecast|mimecast.{0,80}#4(?:51|1002)/i,
  },
  { name: 'mimecast-no-recipient', class: 'no_mailbox', only: 5, text: /invalid recipient.{0,80}mimecast/i },
  {
    name: 'mimecast-reputation',
    class: 'reputation',
    text: /mimecast.{0,80}(?:reputation|blacklist|rbl)|(?:reputation|rbl).{0,80}mimecast/i,
  },
  {
    name: 'barracuda-reputation',
    class: 'reputation',
    text: /barracuda(?:central|networks)?\.(?:org|com)|barracuda reputation/i,
  },
  { name: 'cloudmark-content', class: 'content', text: /cloudmark.{0,40}(?:spam|content|csi)/i },
  {
    name: 'block-list',
    class: 'reputation',
    text: /spamhaus|spamcop|sorbs|uceprotect|\b(?:zen|sbl|xbl|pbl|dnsbl|rbl)\b.{0,60}(?:listed|blocked)|(?:listed (?:in|on|at|by)|blocked (?:by|using)).{0,60}(?:\brbl|dnsbl|block ?list|black ?list|zen\.|bl\.)/i,
  },
  { name: 'greylisted', class: 'greylist', text: /gr[ea]y-?\s?list/i },
  // Contradicts a 5yz code: when in doubt the mailbox exists.
  {
    name: 'temporary',
    class: 'system',
    only: 5,
    text: /\btemporar(?:y|ily)\b|\btry again later\b|\bLDAP\b|\bserver (?:is )?(?:too )?busy\b|verification in progress|\bsaid: 4\d\d\b/i,
  },
  { name: 'dmarc', class: 'authentication', text: /\bDMARC\b/ },
  // Says "unknown" about the sender or its host, not about the recipient.
  {
    name: 'sender-unknown',
    class: 'authentication',
    text: /sender (?:address )?(?:rejected|verify failed|denied)|sender domain|(?:unknown|invalid|unresolvable) (?:sender|reverse)|domain of sender|reverse (?:DNS|host|lookup)|\bPTR\b/i,
  },
  // Our HELO name, and our own DNS faults.
  { name: 'helo-refused', class: 'authentication', text: /\b(?:helo|ehlo)\b/i },
  {
    name: 'dns-trouble',
    class: 'network',
    text: /host not found, try again|temporary (?:failure in )?(?:name|dns|lookup|resol)|\bSERVFAIL\b|\bDNS (?:server )?(?:error|failure|problem|timeout|query failed|lookup failed)|unable to (?:look ?up|resolve)|(?:could|can) ?not resolve|\bDNSSEC\b|invalid DNS/i,
  },
  { name: 'dns-trouble', class: 'network', text: /\b(?:domain|mx|dns) lookup (?:failed|failure|error|deferred)/i },
  { name: 'takes-no-mail', class: 'no_domain', only: 5, text: /\bno mx records? (?:found )?for\b/i },
  // Sendmail, for a domain with a null MX.
  { name: 'takes-no-mail', class: 'no_domain', enhanced: /^5\.7\.27$/, text: /^host does not accept mail/i },
  {
    name: 'sender-unknown',
    class: 'authentication',
    text: /\bsender (?:mailbox|callout|address|does not)|\benvelope sender\b|\bbad sender\b|\breturn[- ]path\b|\bMAIL FROM\b|\bverification failed for\b|\byour (?:own )?domain\b/i,
  },
  {
    name: 'client-blocked',
    class: 'reputation',
    text: /\bmail server has been blocked|not in (?:the |our )?white ?-?list|\babuse from\b|\b(?:mail|messages) from \S+ (?:is |was )?(?:refused|rejected|blocked)/i,
  },
  {
    name: 'sender-rate',
    class: 'rate',
    text: /\brate (?:limit )?exceeded|\bquota (?:reached|exceeded) (?:for|of) (?:the )?sender|\bquota of sender|\bconnection limit|\btoo many (?:invalid |unknown )?(?:recipients|errors)/i,
  },
  { name: 'domain-not-found', class: 'no_domain', only: 5, text: /\bdomain (?:name )?(?:not found|does not exist)/i },
  // Postfix, Exim, qmail, Sendmail, Courier and similar, about the recipient, whatever code they are configured to use.
  {
    name: 'user-unknown',
    class: 'no_mailbox',
    only: 5,
    text: /\b(?:user|recipient|mailbox|account|address(?:ee)?|alias|local ?part)\b(?<!IP address)[^.;]{0,60}?\b(?:unknown|not found|does ?n[o']t exist|does not exist|not known|no longer exists|is not (?:a )?valid|non-?existent|unrouteable)\b/i,
  },
  { name: 'domino-not-listed', class: 'no_mailbox', only: 5, text: /\bnot listed in (?:the )?(?:Domino|public name)/i },
  {
    name: 'unknown-user',
    class: 'no_mailbox',
    only: 5,
    text: /\b(?:unknown|no such|invalid(?: final delivery)?|non-?existent|not a (?:valid|known)) (?:local[ -])?(?:user(?:id)?|recipient|mailbox|account|address here|local[ -]?part|person)\b/i,
  },
  {
    name: 'unknown-user-japanese',
    class: 'no_mailbox',
    only: 5,
    text: /リストにありません|(?:ディレクトリ(?:に)?|宛先|あて先|アドレス|ユーザー|メールボックス)(?:が|は)(?:見つかりません|存在しません)/,
  },
  {
    name: 'no-mailbox-by-that-name',
    class: 'no_mailbox',
    only: 5,
    text: /recipient (?:name )?is not recogni[sz]ed|no mailbox (?:here )?by that name|unrouteable address|not our customer|unknown in (?:local|virtual|relay) \w+|mailbox not found/i,
  },
]

/** Enhanced status code without class → bounce class, where the code alone is sufficient. RFC 3463 §3, RFC 5248
 *  registry */
const ENHANCED: Record<string, BounceClass | undefined> = {
  '1.1': 'no_mailbox',
  '1.2': 'no_domain',
  '1.3': 'no_mailbox',
  '1.6': 'no_mailbox',
  '1.7': 'policy',
  '1.8': 'authentication',
  '1.10': 'no_domain',
  '2.1': 'mailbox_disabled',
  '2.2': 'mailbox_full',
  '2.3': 'size',
  '3.1': 'system',
  '3.2': 'system',
  '3.3': 'protocol',
  '3.4': 'size',
  '3.5': 'system',
  '4.1': 'network',
  '4.2': 'network',
  '4.3': 'network',
  '4.4': 'network',
  '4.5': 'system',
  '4.6': 'network',
  '4.7': 'network',
  '5.1': 'protocol',
  '5.2': 'protocol',
  '5.3': 'rate',
  '5.4': 'protocol',
  '5.5': 'protocol',
  '6.1': 'content',
  '6.2': 'content',
  '6.3': 'content',
  '6.5': 'content',
  '6.7': 'protocol',
  '6.9': 'protocol',
  '7.2': 'policy',
  '7.4': 'tls',
  '7.5': 'tls',
  '7.10': 'tls',
  '7.13': 'mailbox_disabled',
  '7.14': 'policy',
  '7.17': 'no_mailbox',
  '7.18': 'no_domain',
  '7.20': 'authentication',
  '7.21': 'authentication',
  '7.22': 'authentication',
  '7.23': 'authentication',
  '7.24': 'authentication',
  '7.25': 'authentication',
  '7.26': 'authentication',
  '7.27': 'authentication',
  '7.28': 'rate',
  '7.29': 'authentication',
  '7.30': 'tls',
}

/** Texts that count where the code is absent or vague (5.0.0, 5.1.0, 5.7.1 …). */
const GENERAL_TEXTS: readonly Rule[] = [
  {
    name: 'mailbox-full',
    class: 'mailbox_full',
    text: /(?:mailbox|inbox|account|user|recipient).{0,40}(?:\bfull\b|over ?quota|quota exceeded|exceed\w{0,6} .{0,20}quota|out of space)|over ?quota|quota exceeded|insufficient (?:disk|mailbox) space/i,
  },
  {
    name: 'mailbox-full',
    class: 'mailbox_full',
    text: /not enough (?:disk )?space|no space left|mail ?folder is full|messages in recipient's mailbox exceeded/i,
  },
  {
    name: 'mailbox-disabled',
    class: 'mailbox_disabled',
    text: /(?:mailbox|account|user|recipient|address).{0,40}(?:disabled|inactive|suspended|deactivated|locked|closed|expired)|(?:disabled|inactive|suspended) (?:mailbox|account|user|recipient)/i,
  },
  {
    name: 'domain-unknown',
    class: 'no_domain',
    only: 5,
    text: /illegal host\/domain|(?:domain|host)(?: name)? (?:is )?(?:unknown|not found|does not exist|invalid)|(?:unknown|no such|invalid) (?:recipient )?(?:domain|host)\b|domain does not accept mail/i,
  },
  {
    name: 'too-large',
    class: 'size',
    text: /(?:message|size|mail).{0,40}(?:too (?:large|big)|exceed.{0,36}(?:size|limit|maximum))|size limit/i,
  },
  {
    name: 'rate',
    class: 'rate',
    text: /rate[ -]?limit|too many (?:messages|connections|recipients|emails|mails|concurrent|sessions)|throttl|too (?:fast|frequent|quickly)|exceeded .{0,40}(?:rate|limit|per (?:hour|minute|day))|slow down/i,
  },
  {
    name: 'spf-or-dkim',
    class: 'authentication',
    text: /\b(?:SPF|DKIM)\b|reverse DNS|\bPTR\b|\brDNS\b|unauthenticated|not authenticated/i,
  },
  {
    name: 'reputation',
    class: 'reputation',
    text: /reputation|black ?-?list|block ?-?list|deny ?-?list|\bRBL\b|DNSBL|(?:your|this|client) (?:IP|host|server|network|address).{0,60}(?:blocked|banned|listed|rejected|denied)|(?:IP|host)(?: address)? .{0,45}(?:blocked|banned)/i,
  },
  {
    name: 'content',
    class: 'content',
    text: /\bspam\b|junk|unsolicited|\bvirus|malware|phish|message content|content (?:rejected|filter)|prohibited (?:content|attachment)|\bURI(?:BL)?\b|\bUBE\b/i,
  },
  {
    name: 'tls-required',
    class: 'tls',
    text: /(?:must|requires?|need|issue).{0,40}(?:START)?TLS|encryption (?:is )?(?:required|needed)/i,
  },
  {
    name: 'relay-denied',
    class: 'policy',
    text: /relay(?:ing)? (?:access )?(?:denied|not (?:permitted|allowed)|prohibited)|not permitted to relay|unable to relay/i,
  },
  {
    name: 'try-later',
    class: 'greylist',
    only: 4,
    text: /(?:try|retry) again (?:in \d+|after \d+) ?(?:s|m)|come back later|first time/i,
  },
  {
    name: 'no-such-name',
    class: 'no_mailbox',
    only: 5,
    text: /no such (?:name|address)|address (?:unknown|does not exist)|recipient (?:is )?(?:not (?:known|exist)|unavailable here)/i,
  },
  // Nothing else; RFC 3463 uses 5.1.0 for address faults without another code.
  {
    name: 'address-rejected',
    class: 'no_mailbox',
    only: 5,
    text: /^(?:<address>:? )?(?:recipient address|recipient|address) rejected\.?$/i,
  },
  {
    name: 'policy',
    class: 'policy',
    text: /\bpolicy\b|policies|not accepted for|access denied|administrative(?:ly)? (?:prohibit|denied)/i,
  },
  {
    name: 'syntax',
    class: 'protocol',
    only: 5,
    text: /syntax error|unrecogni[sz]ed command|bad sequence|command not/i,
  },
  {
    name: 'connection-lost',
    class: 'network',
    text: /connection (?:timed out|refused|reset|lost|dropped)|(?:operation|connection|session) timed out|time-?out exceeded|no route to host|host (?:is )?(?:unreachable|not reachable|not responding)|not responding|resources temporarily unavailable/i,
  },
  {
    name: 'expired',
    class: 'network',
    text: /envelope expired|(?:retry|delivery) time-?out|in the queue too long|could not deliver for the last|not delivered within|message expired|retry time not reached/i,
  },
]

/** Codes that name an area but no reason. */
const VAGUE_ENHANCED: Record<string, BounceClass | undefined> = {
  '3.0': 'system',
  '4.0': 'network',
  '5.0': 'protocol',
  '6.0': 'content',
  '7.0': 'policy',
  '7.1': 'policy',
  '7.3': 'policy',
  '7.6': 'tls',
  '7.7': 'authentication',
  '7.8': 'policy',
  '7.9': 'policy',
}

/** Reply codes with one meaning regardless of text; 450, 550, 552 and 554 have several. RFC 5321 §4.2.3, RFC 7504 */
const REPLY_CODES: Record<number, BounceClass | undefined> = {
  451: 'system',
  500: 'protocol',
  501: 'protocol',
  502: 'protocol',
  503: 'protocol',
  504: 'protocol',
  521: 'no_domain',
  523: 'size',
  530: 'policy',
  535: 'policy',
  555: 'protocol',
  556: 'no_domain',
}

function fits(rule: Rule, reply: Reply, text: string): boolean {
  if (rule.code !== undefined && rule.code !== reply.code) return false
  if (rule.only !== undefined && rule.only !== Math.floor(reply.code / 100)) return false
  if (rule.enhanced !== undefined && (reply.enhanced === null || !rule.enhanced.test(reply.enhanced))) return false
  return rule.text.test(text)
}
