import type { HtmlTag } from '../../mail/html-scan.ts'
import { colourOf } from './colour.ts'
import { scanCss } from './css-scan.ts'

/** Appearance of text, as far as the surrounding tags determine it. */
export interface Look {
  isHidden: boolean
  /** Zero size. Unlike hidden text, an inner element can undo it, and column layouts do. */
  isSizeless: boolean
  /** Text colour as `#rrggbb`; null if not set. */
  colour: string | null
  /** Background colour behind it; null if unknown. */
  background: string | null
}

export const PLAIN_LOOK: Look = { isHidden: false, isSizeless: false, colour: null, background: '#ffffff' }

/** The CSS used in a page, from style sheets and style attributes, without positions. */
export class UsedCss {
  /** By property: its values. */
  readonly values = new Map<string, Set<string>>()
  readonly atRules = new Map<string, Set<string>>()
  readonly selectors = new Set<string>()

  sheet(css: string): void {
    scanCss(css, {
      declaration: (property, value) => add(this.values, property, value),
      atRule: (name, prelude) => add(this.atRules, name, prelude),
      selector: (text) => this.selectors.add(text),
    })
  }

  /** Style attribute → its declarations, which are also recorded. */
  attribute(css: string): Map<string, string> {
    const own = new Map<string, string>()
    const declaration = (property: string, value: string) => {
      add(this.values, property, value)
      own.set(property, value.toLowerCase())
    }
    scanCss(css, { declaration }, true)
    return own
  }
}

/** Outer look and tag → look inside it. `sheetColours`: a style sheet sets backgrounds, so the background of an
 *  element with a class is unknown. */
export function lookWithin(outer: Look, tag: HtmlTag, own: Map<string, string> | null, sheetColours: boolean): Look {
  const attributes = own === null && tag.attributes.length === 0 ? null : tag
  if (attributes === null) return tag.name === 'a' && outer.colour !== null ? { ...outer, colour: null } : outer
  const colour = own?.get('color') ?? (tag.name === 'font' ? attributeOf(tag, 'color') : undefined)
  return {
    isHidden: outer.isHidden || attributeOf(tag, 'hidden') !== undefined || (own !== null && hides(own)),
    isSizeless: sizeless(own) ?? outer.isSizeless,
    // A link has its own colour.
    colour: colour === undefined ? (tag.name === 'a' ? null : outer.colour) : colourOf(colour),
    background: backgroundWithin(outer.background, tag, own, sheetColours),
  }
}

/** Value of the first attribute of that name; undefined if there is none. */
export function attributeOf(tag: HtmlTag, name: string): string | undefined {
  return tag.attributes.find((attribute) => attribute.name === name)?.value
}

function backgroundWithin(
  outer: string | null,
  tag: HtmlTag,
  own: Map<string, string> | null,
  sheetColours: boolean,
): string | null {
  const image = own?.get('background-image')
  if (image !== undefined && image !== 'none') return null
  if (attributeOf(tag, 'background') !== undefined) return null
  const set = own?.get('background-color') ?? own?.get('background') ?? attributeOf(tag, 'bgcolor')
  if (set !== undefined) return set === 'transparent' || set === 'none' ? outer : colourOf(set)
  const isStyled = sheetColours && (attributeOf(tag, 'class') !== undefined || attributeOf(tag, 'id') !== undefined)
  return isStyled ? null : outer
}

function hides(own: Map<string, string>): boolean {
  if (NONE.test(own.get('display') ?? '') || HIDDEN.test(own.get('visibility') ?? '')) return true
  if (ZERO.test(own.get('opacity') ?? '')) return true
  const isFlat = ZERO.test(own.get('max-height') ?? '') || ZERO.test(own.get('height') ?? '')
  return isFlat && HIDDEN.test(own.get('overflow') ?? '')
}

/** Null = the element does not set it. */
function sizeless(own: Map<string, string> | null): boolean | null {
  const size = own?.get('font-size')
  if (size !== undefined) return ZERO.test(size)
  const font = own?.get('font')
  return font === undefined ? null : /^0(?:px)?[/\s]/.test(font)
}

const NONE = /^none\b/
const HIDDEN = /^(?:hidden|collapse)\b/
const ZERO = /^0*(?:\.0+)?0(?:px|em|rem|pt|%)?(?:\s*!important)?$/

function add(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key)
  if (set === undefined) sets.set(key, new Set([value]))
  else set.add(value)
}
