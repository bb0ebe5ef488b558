import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { expectCostUnder } from '../../test/support/cpu-cost.ts'
import { decodeAttribute, decodeEntities } from './html-entities.ts'
import { type HtmlTag, scanHtml } from './html-scan.ts'

/** The pieces of a scan, each as in the HTML. */
function reported(html: string): string[] {
  const pieces: string[] = []
  scanHtml(html, {
    tag: ({ kind, start, end }) => pieces.push(`${kind} ${html.slice(start, end)}`),
    text: (start, end) => pieces.push(`text ${html.slice(start, end)}`),
    comment: (start, end) => pieces.push(`comment ${html.slice(start, end)}`),
  })
  return pieces
}

function tagsOf(html: string): HtmlTag[] {
  const tags: HtmlTag[] = []
  scanHtml(html, { tag: (tag) => tags.push(tag) })
  return tags
}

describe('HTML is split where a browser splits it', () => {
  for (const [html, pieces] of [
    ['', []],
    ['plain', ['text plain']],
    ['<p>a</p>', ['open <p>', 'text a', 'close </p>']],
    ['<P CLASS=x>a', ['open <P CLASS=x>', 'text a']],
    ['1 < 2 <3 <b>', ['text 1 < 2 <3 ', 'open <b>']],
    ['a<', ['text a<']],
    ['a</', ['text a</']],
    ['a</>b', ['text a', 'comment </>', 'text b']],
    ['</ p>b', ['comment </ p>', 'text b']],
    ['<!doctype html><p>', ['comment <!doctype html>', 'open <p>']],
    ['<?xml version="1.0"?>a', ['comment <?xml version="1.0"?>', 'text a']],
    ['<!--<a href="x">-->b', ['comment <!--<a href="x">-->', 'text b']],
    ['<!-->a', ['comment <!-->', 'text a']],
    ['<!--->a', ['comment <!--->', 'text a']],
    ['<!--a--!>b-->', ['comment <!--a--!>', 'text b-->']],
    ['<!--a>b', ['comment <!--a>b']],
    ['<!--[if mso]><td><![endif]-->x', ['comment <!--[if mso]><td><![endif]-->', 'text x']],
    ['<!--[if !mso]><!--><p><!--<![endif]-->', ['comment <!--[if !mso]><!-->', 'open <p>', 'comment <!--<![endif]-->']],
    ['<![if !mso]><p><![endif]>', ['comment <![if !mso]>', 'open <p>', 'comment <![endif]>']],
    ['<style>a>b{}<p></STYLE >x', ['open <style>', 'text a>b{}<p>', 'close </STYLE >', 'text x']],
    ['<title></titles></title>', ['open <title>', 'text </titles>', 'close </title>']],
    ['<textarea><b></textarea>', ['open <textarea>', 'text <b>', 'close </textarea>']],
    ['<script>if (a<b) "</p>"', ['open <script>', 'text if (a<b) "</p>"']],
    ['<style></style>', ['open <style>', 'close </style>']],
    ['<a title="a>b">c', ['open <a title="a>b">', 'text c']],
    ['x<a href="y>z</a>', ['text x', 'text <a href="y>z</a>']],
    ['x<a href', ['text x', 'text <a href']],
    ['<o:p>&nbsp;</o:p>', ['open <o:p>', 'text &nbsp;', 'close </o:p>']],
  ] as const) {
    test(`${JSON.stringify(html)} is ${pieces.length} pieces`, () => expect(reported(html)).toEqual([...pieces]))
  }
})

describe('a tag', () => {
  test('has its name in lower case, and says whether a slash ends it', () => {
    const seen = tagsOf('<BR/><br / ><img src=a/><TD></Td>').map((tag) => [tag.kind, tag.name, tag.selfClosing])
    expect(seen).toEqual([
      ['open', 'br', true],
      ['open', 'br', false],
      ['open', 'img', false],
      ['open', 'td', false],
      ['close', 'td', false],
    ])
  })

  for (const [html, attributes] of [
    ['<a href="x">', [['href', 'x', 'x']]],
    ["<a HREF = 'x y'>", [['href', 'x y', 'x y']]],
    ['<a href=x/y?z=1>', [['href', 'x/y?z=1', 'x/y?z=1']]],
    ['<a href="?a=1&amp;b=2">', [['href', '?a=1&b=2', '?a=1&amp;b=2']]],
    ['<a href="?a=1&copy=2&ne=3">', [['href', '?a=1&copy=2&ne=3', '?a=1&copy=2&ne=3']]],
    [
      '<a disabled href>',
      [
        ['disabled', '', ''],
        ['href', '', ''],
      ],
    ],
    ['<a href="">', [['href', '', '']]],
    [
      '<a href="x"title="y">',
      [
        ['href', 'x', 'x'],
        ['title', 'y', 'y'],
      ],
    ],
    ['<a/href=x/>', [['href', 'x/', 'x/']]],
    [
      '<a "x"/=y=z>',
      [
        ['"x"', '', ''],
        ['=y', 'z', 'z'],
      ],
    ],
    [
      '<a id=1 id=2>',
      [
        ['id', '1', '1'],
        ['id', '2', '2'],
      ],
    ],
    ['<a\n href\n=\n"x">', [['href', 'x', 'x']]],
    ['<a href=>', [['href', '', '']]],
  ] as const) {
    test(`${JSON.stringify(html)} has its attributes, their values and their places`, () => {
      const [tag] = tagsOf(html)
      const seen = tag!.attributes.map((each) => [each.name, each.value, html.slice(each.valueStart, each.valueEnd)])
      expect(seen).toEqual(attributes.map((each) => [...each]))
    })
  }
})

for (const [value, inAttribute, inText] of [
  ['a&colon;b', 'a:b', 'a:b'],
  ['&copy=1', '&copy=1', '©=1'],
  ['&copy;=1', '©=1', '©=1'],
  ['&ne 1', '&ne 1', '&ne 1'],
  ['&#61=', '==', '=='],
] as const) {
  test(`the reference in ${JSON.stringify(value)} is read as browsers read it in a value and in a text`, () => {
    expect([decodeAttribute(value), decodeEntities(value)]).toEqual([inAttribute, inText])
  })
}

describe('for any text', () => {
  const parts =
    '<|</|>|/>|<!--|-->|--!>|<![if mso]>|<a |href|=|"|\'| |\n|&amp;|&copy|<p>|</p>|<style>|</style|<title>|x|é|😀|<!|<?|</>'
  const hostile = fc.array(fc.oneof(fc.constantFrom(...parts.split('|')), fc.string()), { maxLength: 40 })

  test('the pieces come in order and cover it without gap or overlap', () => {
    fc.assert(
      fc.property(hostile, (given) => {
        const html = given.join('')
        let at = 0
        const next = (start: number, end: number) => {
          expect(start).toBe(at)
          expect(end).toBeGreaterThan(start)
          at = end
        }
        scanHtml(html, { tag: (tag) => next(tag.start, tag.end), text: next, comment: next })
        expect(at).toBe(html.length)
      }),
      { numRuns: 3000 },
    )
  })

  test('every value equals the text at its position in the tag', () => {
    fc.assert(
      fc.property(hostile, (given) => {
        const html = given.join('')
        for (const tag of tagsOf(html)) {
          const sign = tag.kind === 'open' ? '<' : '</'
          expect(html.slice(tag.start, tag.end).toLowerCase()).toStartWith(sign + tag.name)
          let at = tag.start
          for (const { value, valueStart, valueEnd } of tag.attributes) {
            expect(valueStart).toBeGreaterThan(at)
            at = valueEnd
            expect(at).toBeLessThan(tag.end)
            expect(decodeAttribute(html.slice(valueStart, valueEnd))).toBe(value)
          }
        }
      }),
      { numRuns: 3000 },
    )
  })
})

describe('hostile HTML takes linear time:', () => {
  const MANY = 100_000
  for (const [what, html] of [
    ['nested tags', '<div>'.repeat(MANY)],
    ['a long attribute', `<a title="${'x&amp;'.repeat(MANY * 2)}">`],
    ['open quotes', '<a b="'.repeat(MANY)],
    ['comments that never end', '<!--'.repeat(MANY)],
    ['other comments that never end', '<!'.repeat(MANY)],
    ['comments with one kind of end', '<!---->'.repeat(MANY)],
    ['raw texts that never end', '<title></titl'.repeat(MANY)],
    ['raw texts', '<title></title>'.repeat(MANY)],
    ['tags that never end', '<a '.repeat(MANY)],
    ['attributes', `<a ${'b '.repeat(MANY)}>`],
    ['blanks', `<a${' '.repeat(MANY * 5)}b${' '.repeat(MANY * 5)}=`],
    ['ampersands', `<a b="${'&'.repeat(MANY * 5)}">`],
    ['angle brackets that start no tag', '<'.repeat(MANY * 5)],
  ] as const) {
    test(`${what} by the hundred thousand`, async () => {
      // A quadratic scan takes minutes.
      await expectCostUnder(2_000, () => scanHtml(html, { tag() {}, text() {}, comment() {} }), 2)
    })
  }
})
