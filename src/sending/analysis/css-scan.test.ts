import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { scanCss } from './css-scan.ts'

/** The pieces of a scan, in order. */
function parsed(css: string, isInsideBlock = false): string[] {
  const pieces: string[] = []
  scanCss(
    css,
    {
      declaration: (property, value) => pieces.push(`${property} = ${value}`),
      atRule: (name, prelude) => pieces.push(`@${name} ${prelude}`.trim()),
      selector: (text) => pieces.push(`select ${text}`),
    },
    isInsideBlock,
  )
  return pieces
}

for (const [css, ...pieces] of [
  [''],
  ['p { COLOR: red; margin:0 }', 'select p', 'color = red', 'margin = 0'],
  ['a, b > c{x:y}d{e:f', 'select a, b > c', 'x = y', 'select d', 'e = f'],
  ['@import url("a;b.css"); p{x:y}', '@import url("a;b.css")', 'select p', 'x = y'],
  ['@media (max-width:600px){.a{x:y}}.b{z:0}', '@media (max-width:600px)', 'select .a', 'x = y', 'select .b', 'z = 0'],
  ['@font-face{src:url(data:a;b)}', '@font-face', 'src = url(data:a;b)'],
  ['p{/* x:y; */a:b/**/;c:"d;}e"}', 'select p', 'a = b', 'c = "d;}e"'],
  ['p{a:"never\nclosed;b:c}', 'select p', 'a = "never\nclosed', 'b = c'],
  ['p{a:url(never;b:c}', 'select p', 'a = url(never', 'b = c'],
  ['/* never closed p{a:b}'],
  ['}}p{a:b}', 'select p', 'a = b'],
] as const) {
  test(`the style sheet ${JSON.stringify(css)} has ${pieces.length} pieces`, () =>
    expect(parsed(css)).toEqual([...pieces]))
}

test('an attribute is read like the content of a block', () => {
  expect(parsed('color:red;;margin : 0 auto ; broken; background:url(a;b)', true)).toEqual([
    'color = red',
    'margin = 0 auto',
    'background = url(a;b)',
  ])
})

test('any text is read without an error', () => {
  const signs = fc.constantFrom(...'{};:()"\'@/* \nab'.split(''), '/*', '*/', 'url(')
  fc.assert(
    fc.property(fc.array(fc.oneof(signs, fc.string())), (parts) => void parsed(parts.join(''))),
    { numRuns: 1000 },
  )
})
