import { decodeAttribute } from './html-entities.ts'

/** Follows the tags of an HTML mail and decides which text no reader sees, such as preview text for the list of mails. Only
 *  inline styles hide. Text that a style sheet shows on some screens is visible. Reads each tag once. */
export class HiddenParts {
  readonly #html: string
  #shown: ReadonlySet<string> | null = null
  /** The element that hides, how many of its name are open in it, and how many cells. */
  #hidden: { name: string; open: number; cells: number; isSmall: boolean } | null = null

  constructor(html: string) {
    this.#html = html
  }

  get isOn(): boolean {
    return this.#hidden !== null
  }

  /** Whether the start tag is hidden itself or inside of a hidden element; `attributes` is its text behind the name. */
  opens(name: string, attributes: string, isBlock: boolean): boolean {
    const hidden = this.#hidden
    if (hidden === null) return this.#begins(name, attributes)
    const isSeen = hidden.isSmall ? /class|font-size/i.test(attributes) : hidden.name === 'p' && isBlock
    if (isSeen) {
      this.#hidden = null
      return this.#begins(name, attributes)
    }
    if (name === hidden.name) hidden.open++
    if (CELLS.has(name)) hidden.cells++
    return true
  }

  /** Whether the end tag belongs to a hidden element. The end of a cell or of the body also ends what is not closed in it. */
  closes(name: string): boolean {
    const hidden = this.#hidden
    if (hidden === null) return false
    if (name === hidden.name && --hidden.open === 0) {
      this.#hidden = null
      return true
    }
    if (name !== 'body' && !(CELLS.has(name) && --hidden.cells < 0)) return true
    this.#hidden = null
    return false
  }

  #begins(name: string, attributes: string): boolean {
    const how = this.#hides(attributes)
    if (how === null) return false
    if (!VOID.has(name)) this.#hidden = { name, open: 1, cells: CELLS.has(name) ? 1 : 0, isSmall: how === 'small' }
    return true
  }

  #hides(attributes: string): 'whole' | 'small' | null {
    if (!/style|hidden/i.test(attributes)) return null
    const style = STYLE.exec(attributes)
    const how = hidingOf(decodeAttribute(style?.[1] ?? style?.[2] ?? style?.[3] ?? ''))
    if (how === null)
      return /(?:^|\s)hidden(?:\s|=|\/|$)/i.test(attributes.replace(/"[^"]*"|'[^']*'/g, '""')) ? 'whole' : null
    this.#shown ??= shownClasses(this.#html)
    const named = CLASS.exec(attributes)
    const classes = (named?.[1] ?? named?.[2] ?? named?.[3] ?? '').split(/\s+/)
    return classes.some((each) => this.#shown?.has(each)) ? null : how
  }
}

const STYLE = /(?:^|[\s"'/])style\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i
const CLASS = /(?:^|[\s"'/])class\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i
const CELLS = new Set(['td', 'th'])
/** HTML Living Standard §13.1.2 */
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))

/** `small`: hidden by a font size of 0, which elements inside may change; layouts set it to close gaps. */
function hidingOf(style: string): 'whole' | 'small' | null {
  const found = new Map<string, string>()
  for (const declaration of style.toLowerCase().split(';')) {
    const colon = declaration.indexOf(':')
    if (colon > 0)
      found.set(
        declaration.slice(0, colon).trim(),
        declaration
          .slice(colon + 1)
          .replace('!important', '')
          .trim(),
      )
  }
  const isZero = (name: string) => /^[0.]+(?:px|pt|em|rem|%)?$/.test(found.get(name) ?? '')
  if (found.get('display') === 'none' || found.get('visibility') === 'hidden' || isZero('opacity')) return 'whole'
  // Without it, text overflows the box and is seen. Outlook has a property of its own.
  const isCut = found.get('overflow') === 'hidden' || found.get('mso-hide') === 'all'
  if (isZero('max-height') && isCut) return 'whole'
  return isZero('font-size') ? 'small' : null
}

/** Classes that a rule of a style sheet shows, as on small screens. */
function shownClasses(html: string): ReadonlySet<string> {
  const shown = new Set<string>()
  for (const [, sheet = ''] of html.matchAll(/<style[^<>]{0,200}>([^<]*)/gi)) {
    for (const rule of sheet.split('}')) {
      if (!SHOWING.test(rule)) continue
      for (const [, name] of rule.matchAll(/\.([a-z_][\w-]*)/gi)) shown.add(name!) // the pattern has one group
    }
  }
  return shown
}

const SHOWING = /display\s*:\s*(?!none|\s)|max-height\s*:\s*(?!0|\s)|opacity\s*:\s*(?!0|\s)/i
