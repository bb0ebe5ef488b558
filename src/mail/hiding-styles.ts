/** How a style hides text: `whole`, or by a size (`small`) or colour (`clear`) that an element inside may change. */
export type Hiding = 'whole' | 'small' | 'clear'

/** Declarations of CSS → whether they hide the text; null if it is seen, which counts wherever it is unclear. The last of
 *  two with one name counts, and an important one before the others. Linear. */
export function hidingOf(style: string): Hiding | null {
  if (!SUSPECT.test(style)) return null // most styles, a tenth of the time
  const found = declarationsOf(style)
  const is = (name: string, pattern: RegExp) => pattern.test(found.get(name) ?? '')
  if (is('display', /^none$/)) return 'whole'
  if ([...found.keys()].some((name) => name.includes('animation'))) return null
  if (is('visibility', /^(?:hidden|collapse)$/) || is('opacity', ZERO)) return 'whole'
  // Without it, text overflows the box and is seen. Outlook has a property of its own.
  const isCut = OVERFLOWS.some((name) => is(name, /^(?:hidden|clip)\b/)) || is('mso-hide', /^all$/)
  if (isCut && SIZES.some((name) => is(name, TINY))) return 'whole'
  const isAside = is('position', /^(?:absolute|fixed)$/)
  if (isAside && (EDGES.some((name) => is(name, FAR)) || is('clip', /^rect\([01][^1-9]*\)$/))) return 'whole'
  if (is('transform', /^scale\([0., ]+\)$/) || is('clip-path', /^inset\((?:50|100)%/)) return 'whole'
  // A picture may stand in place of the letters, or a gradient fill them.
  const isPainted = [...found.keys()].some((name) => name.includes('background'))
  if (is('text-indent', FAR) && !isPainted) return 'whole'
  if (is('font-size', TINY) || is('font', /^(?:[a-z]+ ){0,3}[01](?:px|pt)?[/ ]/)) return 'small'
  return !isPainted && is('color', /^(?:transparent$|rgba\(.*,\s*[0.]+\s*\)$)/) ? 'clear' : null
}

/** Whether the declarations show their element, whatever another rule says. */
export function isShowing(style: string): boolean {
  const found = declarationsOf(style)
  const isSet = (name: string, hidden: RegExp) => found.has(name) && !hidden.test(found.get(name) ?? '')
  return isSet('display', /^none$/) || isSet('max-height', ZERO) || isSet('opacity', ZERO)
}

/** Text of CSS without comments. */
export function withoutComments(css: string): string {
  if (!css.includes('/*')) return css
  const [start = '', ...others] = css.split('/*')
  return start + others.map((text) => (text.includes('*/') ? text.slice(text.indexOf('*/') + 2) : '')).join('')
}

const SUSPECT =
  /none|hid|collapse|opacity|overflow|position|indent|transform|clip|transparent|rgba|font-size\s*:\s*(?:[.0]|1px)|font\s*:|\/\*/i
const ZERO = /^[0.]+[a-z%]{0,4}$/
/** Nothing, or one pixel. */
const TINY = /^(?:[0.]+[a-z%]{0,4}|1px)$/
/** Outside every screen. */
const FAR = /^-\d{3,}/
/** No widths: cells with a `max-width` of 0 shorten their text to the column. */
const SIZES = ['max-height', 'height']
const OVERFLOWS = ['overflow', 'overflow-x', 'overflow-y']
const EDGES = ['left', 'right', 'top', 'bottom', 'margin-left']

function declarationsOf(style: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const important = new Set<string>()
  for (const declaration of withoutComments(style.toLowerCase()).split(';')) {
    const colon = declaration.indexOf(':')
    if (colon <= 0) continue
    const name = declaration.slice(0, colon).trim()
    const [value = '', mark] = declaration.slice(colon + 1).split('!', 2)
    if (mark?.trim() === 'important') important.add(name)
    else if (important.has(name)) continue
    found.set(name, value.trim())
  }
  return found
}
