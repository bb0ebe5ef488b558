import { type Hiding, hidingOf, isShowing } from './hiding-styles.ts'
import { decodeAttribute } from './html-entities.ts'
import { type SheetVisibility, sheetVisibility } from './sheet-visibility.ts'

/** Follows the tags of an HTML mail and decides which text no reader sees, such as preview text for the list of mails. Inline
 *  styles hide, and simple rules of its style sheets. Text that a style sheet shows on some screens is visible. Reads each
 *  tag once. */
export class HiddenParts {
  readonly #html: string
  readonly #hasSheet: boolean
  #sheets: SheetVisibility | null = null
  /** The element that hides, how many of its name are open in it, and how many cells. */
  #hidden: { name: string; open: number; cells: number; how: Hiding } | null = null

  constructor(html: string) {
    this.#html = html
    this.#hasSheet = /<style/i.test(html)
  }

  get isOn(): boolean {
    return this.#hidden !== null
  }

  /** Whether the start tag is hidden itself or inside of a hidden element; `attributes` is its text behind the name. */
  opens(name: string, attributes: string, isBlock: boolean): boolean {
    const hidden = this.#hidden
    if (hidden === null) return this.#begins(name, attributes)
    // A picture has no letters.
    if (hidden.how === 'small' && name === 'img') return this.#hides(name, attributes) !== null
    const isSeen = hidden.how === 'whole' ? hidden.name === 'p' && isBlock : AGAIN[hidden.how].test(attributes)
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
    const how = this.#hides(name, attributes)
    if (how === null) return false
    if (!VOID.has(name)) this.#hidden = { name, open: 1, cells: CELLS.has(name) ? 1 : 0, how }
    return true
  }

  #hides(element: string, attributes: string): Hiding | null {
    const mayHide = /style|hidden/i.test(attributes)
    const style = mayHide ? decodeAttribute(attributeOf(STYLE, attributes)) : ''
    const how = mayHide ? (hidingOf(style) ?? (isHiddenAttribute(attributes) ? 'whole' : null)) : null
    if (how === null && !(this.#hasSheet && /class|id\s*=/i.test(attributes))) return null
    this.#sheets ??= sheetVisibility(this.#html)
    const { hidden, shown } = this.#sheets
    if (how === null && hidden.size === 0) return null
    const names = attributeOf(CLASS, attributes)
      .split(/\s+/)
      .map((each) => `.${each}`)
    names.push(`#${attributeOf(ID, attributes)}`)
    if (names.some((each) => shown.has(each))) return null
    return (
      how ??
      (!isShowing(style) && names.some((each) => hidden.has(each) || hidden.has(`${element}${each}`)) ? 'whole' : null)
    )
  }
}

/** What may show text in a hidden element. */
const AGAIN = { small: /class|font-size|font\s*:/i, clear: /class|color/i }
const STYLE = /(?:^|[\s"'/])style\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i
const CLASS = /(?:^|[\s"'/])class\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i
const ID = /(?:^|[\s"'/])id\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i
const CELLS = new Set(['td', 'th'])
/** HTML Living Standard §13.1.2 */
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))

/** '' without the attribute. */
function attributeOf(attribute: RegExp, attributes: string): string {
  const found = attribute.exec(attributes)
  return found?.[1] ?? found?.[2] ?? found?.[3] ?? ''
}

function isHiddenAttribute(attributes: string): boolean {
  if (!/hidden/i.test(attributes)) return false
  return /(?:^|\s)hidden(?:\s|=|\/|$)/i.test(attributes.replace(/"[^"]*"|'[^']*'/g, '""'))
}
