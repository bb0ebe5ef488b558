/** A program that loads pixels or follows links on its own, or as a proxy that hides the reader. */
export interface Machine {
  /** Name of the rule, to explain a verdict. */
  name: string
  userAgent: RegExp
}

/** Only programs that identify themselves, or send what no browser or mail program sends; unusual requests count as
 *  people. Scanners that imitate a browser are not detected: guessing would hide real readers. Recorded in November
 *  2026. */
const MACHINES: readonly Machine[] = [
  // Proxies of mailbox providers. They load images when a mail is opened or before, and hide the reader.
  { name: 'gmail-image-proxy', userAgent: /\bGoogleImageProxy\b/ },
  { name: 'yahoo-image-proxy', userAgent: /\bYahooMailProxy\b/ },
  // Apple's Mail Privacy Protection loads every pixel, read or not, and sends exactly this.
  { name: 'apple-mail-privacy', userAgent: /^Mozilla\/5\.0$/ },
  // Office probes a link before a browser opens it.
  { name: 'microsoft-office-probe', userAgent: /^Microsoft Office (?:Existence|Protocol) Discovery\b/ },
  // Link scanners that identify themselves.
  {
    name: 'link-scanner',
    userAgent:
      /\b(?:barracuda|mimecast|proofpoint|safe ?links|symantec|messagelabs|forcepoint|fireeye|trellix|ironport|sophos|trend ?micro|zscaler|urlscan|virustotal|google-safety)/i,
  },
  // Previews in messengers, search engines, and everything that calls itself a robot.
  {
    name: 'robot',
    // CUBOT is a phone.
    userAgent:
      /(?<!cu)bot\b|crawler\b|\bspider\b|BingPreview|UriPreview|facebookexternalhit|^WhatsApp\/|Slack-ImgProxy|\bslurp\b/i,
  },
  { name: 'headless-browser', userAgent: /\b(?:HeadlessChrome|PhantomJS|Puppeteer|Playwright)\b/i },
  {
    name: 'http-library',
    userAgent:
      /^(?:curl|wget|python-requests|python-urllib|python-httpx|aiohttp|go-http-client|java|libwww-perl|lwp::|ruby|node|node-fetch|axios|undici|guzzlehttp|apache-httpclient|httpie|winhttp|powershell|scrapy)\b/i,
  },
]

/** Request headers → the matching rule's name; null for a person, as far as detectable. Never throws. */
export function machineOf(headers: Headers): string | null {
  if (PREFETCH.some((name) => /prefetch|preview|prerender/i.test(headers.get(name) ?? ''))) return 'prefetch'
  const userAgent = (headers.get('user-agent') ?? '').slice(0, MAX_LOOK)
  if (userAgent.trim() === '') return 'no-user-agent'
  return MACHINES.find((machine) => machine.userAgent.test(userAgent))?.name ?? null
}

/** How browsers mark prefetching without a click. */
const PREFETCH = ['sec-purpose', 'purpose', 'x-moz', 'x-purpose']
const MAX_LOOK = 1_000
