/** "Flowed" text with LF line ends → the same with paragraphs joined: a line that ends with a blank continues in the
 *  next one, except the `-- ` of a signature. `dropsBlanks` is `delsp=yes`. Quoted lines stay lines. Linear, never
 *  throws. RFC 3676 §4 */
export function withoutFlow(text: string, dropsBlanks: boolean): string {
  const pieces: string[] = []
  let start = 0 // start of what is not yet in the pieces
  for (let at = text.indexOf(' \n'); at >= 0; at = text.indexOf(' \n', at + 1)) {
    const lineStart = text.lastIndexOf('\n', at) + 1
    const next = at + 2
    if (text[lineStart] === '>' || text[next] === '>' || isSignature(text, lineStart) || isSignature(text, next))
      continue
    pieces.push(text.slice(start, dropsBlanks ? at : at + 1))
    start = text[next] === ' ' ? next + 1 : next // a blank at the start of a line is stuffing (§4.4)
  }
  pieces.push(text.slice(start))
  return pieces.join('').replace(/(^|\n) /g, '$1')
}

function isSignature(text: string, lineStart: number): boolean {
  const end = lineStart + 3
  return text.startsWith('-- ', lineStart) && (end === text.length || text[end] === '\n')
}
