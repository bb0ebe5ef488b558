import { TagToken, Tokenizer, TokenKind } from 'liquidjs'

/** A text whose Liquid tags and outputs are replaced by plain words, which a parser of MJML, HTML or CSS takes for names or
 *  values and keeps. */
export interface Masked {
  text: string
  /** The replaced pieces in the order of the text. */
  pieces: string[]
  /** The word for a piece: lower-case letters and digits. */
  wordOf(index: number): string
  /** Matches a word; its group is the index of the piece. */
  word: RegExp
  /** Text with words → the same with their pieces. */
  restore(text: string): string
  /** Position in the masked text, from 0 → its line in the original, from 1. */
  lineAt(position: number): number
}

/** Text with valid Liquid → masked text. A comment is one piece. The content of `raw` is not Liquid and stays. */
export function maskLiquid(source: string): Masked {
  const mark = unusedIn(source)
  const wordOf = (index: number) => `${mark}${index}z`
  const pieces: string[] = []
  let text = ''
  let comment: number | null = null
  for (const token of new Tokenizer(source).readTopLevelTokens()) {
    const name = token instanceof TagToken ? token.name : null
    if (name === 'comment') comment ??= token.begin
    if (comment !== null && name !== 'endcomment') continue
    const piece = source.slice(comment ?? token.begin, token.end)
    comment = null
    if (token.kind === TokenKind.HTML) text += piece
    else text += wordOf(pieces.push(piece) - 1)
  }
  const word = new RegExp(`${mark}(\\d+)z`, 'g')
  const restore = (masked: string) => masked.replace(word, (_, index) => pieces[Number(index)]!)
  return { text, pieces, wordOf, word, restore, lineAt: (position) => linesIn(restore(text.slice(0, position))) }
}

/** Text → the beginning of a word that it does not contain. */
function unusedIn(source: string): string {
  const used = new Set(Array.from(source.matchAll(/liquid(\d+)q/gi), ([, number]) => Number(number)))
  let number = 0
  while (used.has(number)) number++
  return `liquid${number}q`
}

function linesIn(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
