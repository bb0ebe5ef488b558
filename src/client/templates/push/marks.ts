import { ConversionFault } from './shape.ts'
import { pathWords } from './words.ts'

/** Values that can be found again in a rendered mail. A string has a capital, a letter beyond ASCII and `&`, so that
 *  it shows what the component did to it. */

/** What a component did to a string, as a letter: nothing, without escaping, upper or lower case, encodeURIComponent. */
type Form = 'p' | 'r' | 'u' | 'l' | 'e'

export interface Marks {
  value(key: string, indices: number[], kind: 'string' | 'number'): string | number
  /** Rendered text → the same with a sign for each value: `\uE000`, its number and form, `\uE001`. Throws
   *  ConversionFault for a string that the component changed. */
  find(text: string, isHtml: boolean): string
  /** Text with signs → the same, as if the second item of the list were the first. */
  asFirst(text: string, list: string): string
  /** Sign → the variable; null for other text. */
  at(sign: string): { key: string; form: Form } | null
}

export const SIGN = /\uE000(\d+)([a-z])\uE001/g
const FIRST_NUMBER = 918_000_000
const STEP = 1_009
const MARK = /pv(\d{1,6})q(?:é|%c3%a9)(?:&amp;|&|%26)zk/gi
const NUMBER = /(?<![\d.])918\d{6}(?!\d)/g

export function createMarks(): Marks {
  const ids = new Map<string, number>()
  const known: { key: string; indices: number[] }[] = []
  const idOf = (key: string, indices: number[]) => {
    const name = `${key} ${indices}`
    const id = ids.get(name) ?? known.push({ key, indices }) - 1
    ids.set(name, id)
    return id
  }
  return {
    value: (key, indices, kind) => {
      const id = idOf(key, indices)
      return kind === 'number' ? FIRST_NUMBER + id * STEP : `Pv${id}qé&Zk`
    },
    find: (text, isHtml) => {
      const found = text
        .replace(MARK, (mark, digits: string) => {
          const form = known[Number(digits)] === undefined ? null : formOf(mark, digits, isHtml)
          return form === null ? mark : `\uE000${digits}${form}\uE001`
        })
        .replace(NUMBER, (digits) => {
          const id = (Number(digits) - FIRST_NUMBER) / STEP
          return known[id] === undefined ? digits : `\uE000${id}p\uE001`
        })
      const rest = /pv(\d{1,6})q/i.exec(found)
      const changed = rest && known[Number(rest[1])]
      if (changed) throw new ConversionFault(computes(changed.key))
      return found
    },
    asFirst: (text, list) => {
      const depth = list.split('.*').length - 1
      return text.replace(SIGN, (sign, id: string, form: string) => {
        const { key, indices } = known[Number(id)]!
        if (!key.startsWith(`${list}.*`) || indices[depth] !== 1) return sign
        return `\uE000${idOf(key, indices.with(depth, 0))}${form}\uE001`
      })
    },
    at: (sign) => {
      const [, id, form] = new RegExp(`^${SIGN.source}$`).exec(sign) ?? []
      return id === undefined ? null : { key: known[Number(id)]!.key, form: form as Form }
    },
  }
}

/** Why a variable is refused. */
export function computes(key: string): string {
  return (
    `${pathWords(key)}: the component computes with it. A template can only print it. ` +
    'Compute the text before, and pass the result as its own prop.'
  )
}

/** Mark in a rendered text → its form; null for another. */
function formOf(mark: string, digits: string, isHtml: boolean): Form | null {
  const plain = `Pv${digits}qé&Zk`
  const escaped = isHtml ? plain.replace('&', '&amp;') : plain
  if (mark === escaped) return 'p'
  if (mark === plain) return 'r'
  if (mark === encodeURIComponent(plain)) return 'e'
  if (mark === plain.toUpperCase().replace('&', isHtml ? '&amp;' : '&')) return 'u'
  if (mark === plain.toLowerCase().replace('&', isHtml ? '&amp;' : '&')) return 'l'
  return null
}
