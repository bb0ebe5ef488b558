/** A program that loads pixels or follows links on its own, or in front of a reader whom it hides. */
export interface Machine {
  /** What the rule is called, for whoever wonders about a verdict. */
  name: string
  userAgent: RegExp
}

/** Only what a program says of itself, or what no browser and no mail program says; what merely looks odd is a person.
 *  Scanners that pose as a browser are not told apart: their guess would cost real readers. Recorded in November 2026. */
export const MACHINES: readonly Machine[] = [
  // Proxies of mailbox providers. They load images when a mail is opened or before, and the reader behind is hidden.
  { name: 'gmail-image-proxy', userAgent: /\bGoogleImageProxy\b/ },
  { name: 'yahoo-image-proxy', userAgent: /\bYahooMailProxy\b/ },
  // Apple's Mail Privacy Protection loads every pixel, read or not, and calls itself this and no more.
  { name: 'apple-mail-privacy', userAgent: /^Mozilla\/5\.0$/ },
  // What Office asks of a link before a browser does.
  { name: 'microsoft-office-probe', userAgent: /^Microsoft Office (?:Existence|Protocol) Discovery\b/ },
  // Scanners of links that give their name.
  {
    name: 'link-scanner',
    userAgent:
      /\b(?:barracuda|mimecast|proofpoint|safe ?links|symantec|messagelabs|forcepoint|fireeye|trellix|ironport|sophos|trend ?micro|zscaler|urlscan|virustotal|google-safety)/i,
  },
  // Previews in messengers, search engines and all that call themselves a robot.
  {
    name: 'robot',
    // CUBOT is a telephone.
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

/** Headers of a request → the name of the rule by which it is a machine's; null for a person's, as far as can be told.
 *  Never throws. */
export function machineOf(headers: Headers): string | null {
  if (PREFETCH.some((name) => /prefetch|preview|prerender/i.test(headers.get(name) ?? ''))) return 'prefetch'
  const userAgent = (headers.get('user-agent') ?? '').slice(0, MAX_LOOK)
  if (userAgent.trim() === '') return 'no-user-agent'
  return MACHINES.find((machine) => machine.userAgent.test(userAgent))?.name ?? null
}

/** How browsers say that nobody has clicked yet. */
const PREFETCH = ['sec-purpose', 'purpose', 'x-moz', 'x-purpose']
const MAX_LOOK = 1_000
