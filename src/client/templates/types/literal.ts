import { hasInvisible } from '../../../net/visible-text.ts'

/** Any text → a string literal with the same value, in double quotes, on one line. Nothing in the text can end it, and
 *  it shows every character that would be invisible or would change the order of the others. */
export function literal(text: string, language: 'typescript' | 'python'): string {
  let body = ''
  for (const character of text) {
    if (character === '"' || character === '\\') body += `\\${character}`
    else body += hasInvisible(character) ? escaped(character.codePointAt(0)!, language) : character
  }
  return `"${body}"`
}

function escaped(code: number, language: 'typescript' | 'python'): string {
  const hex = code.toString(16)
  if (code <= 0xffff) return `\\u${hex.padStart(4, '0')}`
  return language === 'python' ? `\\U${hex.padStart(8, '0')}` : `\\u{${hex}}`
}
