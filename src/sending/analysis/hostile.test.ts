import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { expectCostUnder } from '../../../test/support/cpu-cost.ts'
import { analyze } from './analyze.ts'
import type { AnalysisInput } from './mail.ts'

const MAIL: Omit<AnalysisInput, 'html'> = {
  from: { name: 'Tea', local: 'a', domain: 'example.org' },
  replyTo: [],
  subject: 'Tea',
  text: null,
  headers: [],
  attachments: [],
  domain: { status: 'verified', findings: [] },
  hasUnsubscribe: false,
  sizeBytes: 1,
}

/** Above what any of these takes, with garbage collection; more than linear time would take minutes. */
const ENDLESS_MS = 4_000

describe('hostile input costs time in proportion to its length:', () => {
  const MANY = 100_000
  for (const [what, html] of [
    ['nested tags', '<div>'.repeat(MANY)],
    ['nested tags and as many unrelated end tags', '<div>'.repeat(MANY) + '</span>'.repeat(MANY)],
    ['crossed tags', '<b>'.repeat(MANY) + '<i>'.repeat(MANY) + '</b></i>'.repeat(MANY)],
    ['nested styles', '<div style="color:red;background:url(x)">'.repeat(MANY / 2)],
    ['an attribute of a megabyte', `<a href="https://a.example.org/${'x'.repeat(1_000_000)}">y</a>`],
    ['a style of a megabyte', `<p style="${'a:b;'.repeat(250_000)}">`],
    ['a style of open parentheses', `<p style="${'a:('.repeat(MANY)}">`],
    ['a style sheet of open comments', `<style>${'/*'.repeat(MANY * 5)}`],
    ['a style sheet of open strings', `<style>${`a{b:"'(`.repeat(MANY)}`],
    ['a style sheet of many blocks', `<style>${'@media x{'.repeat(MANY)}`],
    ['links', '<a href=/>x</a>'.repeat(MANY)],
    ['links that never end', '<a href=https://x>'.repeat(MANY)],
    ['attributes', `<p ${'a=b '.repeat(MANY)}>`],
    ['images', '<img>'.repeat(MANY)],
    ['variable markers', '{{'.repeat(MANY * 3)],
    ['other variable markers', '{% '.repeat(MANY * 3)],
    ['percent signs', '%AAAAAAAAAA'.repeat(MANY)],
    ['brackets', '[['.repeat(MANY * 3)],
    ['blanks', `a${' '.repeat(MANY * 10)}b`],
    ['blanks in a link', `<a href="x">${' '.repeat(MANY * 10)}</a>`],
    ['at signs', `${'a@'.repeat(MANY * 3)}`],
    ['addresses', 'http://'.repeat(MANY)],
    ['emoji', '👩‍👩‍👧'.repeat(MANY)],
    ['ten megabytes', 'x<b>y</b>'.repeat(MANY * 11)],
  ] as const) {
    test(what, async () => {
      await expectCostUnder(ENDLESS_MS, () => analyze({ ...MAIL, html, text: null }), 1)
      await expectCostUnder(ENDLESS_MS, () => analyze({ ...MAIL, html: '<p>x</p>', text: html }), 1)
    })
  }
})

// threat: analysis-budget
test('two megabytes of tags are read up to the work limit of one analysis, with a finding', () => {
  const analysed = (html: string) => analyze({ ...MAIL, html, text: 'x' })
  const isCut = (html: string) => analysed(html).issues.some(({ code }) => code === 'size_not_read_whole')
  for (const dense of ['<a>', '<div>', '<b><i></b></i>', '<p>x', '<style>a{b:c}</style>']) {
    expect(isCut(dense.repeat(Math.floor(2_000_000 / dense.length)))).toBe(true)
  }
  // Cut by a count, not by time: the same mail has the same result.
  const links = '<a href=/>x</a>'.repeat(130_000)
  expect(analysed(links)).toEqual(analysed(links))
  expect(analysed(links).stats.links).toBeLessThan(70_000)
  const row = '<td style="padding:8px;color:#333"><a href="https://a.example.org/b">Tea</a></td>\n'
  expect(isCut(row.repeat(Math.floor(2_000_000 / row.length)))).toBe(false)
})

test('any text gives a score within its bounds, without an error', () => {
  const parts =
    '<|</|>|/>|<!--|-->|<a href="|"|<p style="|:|;|{|}|(|)|@media|url(|<style>|</style>|<img src=|{{|}}|%|xn--|http://|[|]|//|é|\0|<b>|</b>|<td>|</i>'
  const html = fc.array(fc.oneof(fc.constantFrom(...parts.split('|')), fc.string()), { maxLength: 40 })
  fc.assert(
    fc.property(html, fc.option(fc.string()), fc.string(), (given, text, subject) => {
      const { score, stats } = analyze({ ...MAIL, html: given.join(''), text, subject })
      expect(score).toBeWithin(0, 101)
      expect(stats.imageTextRatio).toBeWithin(0, 1.01)
    }),
    { numRuns: 1500 },
  )
})
