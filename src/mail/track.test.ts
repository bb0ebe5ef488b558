import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { expectCostUnder } from '../../test/support/cpu-cost.ts'
import type { MailContent } from './content.ts'
import { type Tracking, trackContent, trackHtml } from './track.ts'
import { createTrackingLinks } from './tracking-link.ts'

const SECRET = new Uint8Array(32).fill(1)
const SCOPE = { host: 't.shop.example', organizationId: 'org_1' }
const links = createTrackingLinks(SECRET, SCOPE)
const ID = 'dlv_01kq7000000000000000000000'
const BASE = 'https://t.shop.example'
const ALL: Tracking = {
  deliveryId: ID,
  secret: SECRET,
  baseUrl: BASE,
  scope: SCOPE,
  opens: true,
  clicks: true,
  unsubscribe: true,
}
const CLICKS = { ...ALL, opens: false, unsubscribe: false }
const OPENS = { ...ALL, clicks: false, unsubscribe: false }
const PIXEL = `<img src="${BASE}${links.open(ID)}" width="1" height="1" alt="" style="border:0">`
const to = (url: string) => BASE + links.click(ID, url)
const tracked = (html: string, tracking: Tracking = CLICKS) => trackHtml(html, tracking, links)

describe('links', () => {
  test.each([
    ['<a href="|https://x.example/a|">a</a>', 'https://x.example/a'],
    ["<A HREF = '|https://x.example/?a=1&amp;b=2|' >", 'https://x.example/?a=1&b=2'],
    ['<a class=b href=|https://x.example/a/| id=c>', 'https://x.example/a/'],
    ['<area shape=rect href="|http://x.example/|">', 'http://x.example/'],
    ['<a href="|  https://x.example/ \n|">', 'https://x.example/'],
    ['<a href="|https://x.example/?a=1&copy=2&#38;c|">', 'https://x.example/?a=1&copy=2&c'],
    ['<a href="|https://x.example/ü?q=%20|"\n\ttitle=">">', 'https://x.example/ü?q=%20'],
    ['<svg><a href="|HTTPS://x.example|"/></svg>', 'HTTPS://x.example'],
  ])('rewrites the marked links in %p and no other byte', (barred, url) => {
    const [before, raw, after] = barred.split('|')
    expect(tracked(before! + raw + after)).toBe(before + to(url) + after)
  })

  test.each([
    '<a href="mailto:a@x.example">',
    '<a href="tel:+1">',
    '<a href="#top">',
    '<a href="/relative">',
    '<a href="//x.example/">',
    '<a href="javascript:alert(1)">',
    '<a href="data:text/html,x">',
    '<a href="{{unsubscribe_url}}">',
    '<a href="https://a b/">',
    '<a href="">',
    '<a href>',
    '<a name="https://x.example/">',
    '<a href="https://x.example/" data-no-track>',
    '<a DATA-NO-TRACK="" href="https://x.example/">',
    '<a clicktracking=off href="https://x.example/">',
    '<a href="https+notrack://x.example/">',
    '<link href="https://x.example/style.css">',
    '<base href="https://x.example/">',
    '<img src="https://x.example/a.png">',
    '<form action="https://x.example/">',
    '</a href="https://x.example/">',
    '<!-- <a href="https://x.example/"> -->',
    '<!--[if mso]><v:rect href="https://x.example/"><a href="https://x.example/"></a></v:rect><![endif]-->',
    '<style>a::after{content:"<a href=\'https://x.example/\'>"}</style>',
    '<title><a href="https://x.example/"></title>',
    '<a href="https://x.example/',
    '<a title="href=https://x.example/">',
    '<a href="#" href="https://x.example/">',
    `<a href="${BASE}/t/u/x">`,
    'https://x.example/ in words',
  ])('leaves %p unchanged', (html) => {
    expect(tracked(html)).toBe(html)
  })

  test.each([
    ['<a ses:no-track href="https://x.example/">', '<a href="https://x.example/">'],
    ['<a href="https://x.example/" ses:no-track="true">', '<a href="https://x.example/">'],
    ["<a href='https://x.example/'SES:No-Track = '' class=b>", "<a href='https://x.example/' class=b>"],
    ['<a href="https://x.example/" ses:no-track=1 ses:no-track>', '<a href="https://x.example/">'],
    ['<a ses:no-track="" href="mailto:a@x.example">', '<a href="mailto:a@x.example">'],
    ['<p ses:no-track>', '<p ses:no-track>'],
  ])('%p loses the attribute of SES', (html, expected) => {
    expect(tracked(html)).toBe(expected)
    expect(tracked(html, OPENS)).toBe(html + PIXEL)
  })

  test('tracks links that only Outlook hides', () => {
    const html = '<!--[if !mso]><!--><a href="https://x.example/">x</a><!--<![endif]-->'
    expect(tracked(html)).toBe(html.replace('https://x.example/', to('https://x.example/')))
  })
})

describe('the pixel', () => {
  test.each([
    ['<p>Hi</p>', '<p>Hi</p>|'],
    ['', '|'],
    ['<html><body><p>Hi</p></body></html>\n', '<html><body><p>Hi</p>|</body></html>\n'],
    ['<body>a</BODY ><p>b</body>c', '<body>a</BODY ><p>b|</body>c'],
    ['<p>Hi<!-- </body> -->', '<p>Hi<!-- </body> -->|'],
    ['<p>Hi<!-- </body>', '<p>Hi|<!-- </body>'],
    ['<p>Hi<!-->', '<p>Hi<!-->|'],
    ['<p>Hi<a href="x>', '<p>Hi|<a href="x>'],
    ['<p>Hi<style>a{}', '<p>Hi|<style>a{}'],
    ['<p>1 < 2', '<p>1 < 2|'],
    ['<p>Hi <', '<p>Hi <|'],
    ['</body><a href="mailto:a@b">', '|</body><a href="mailto:a@b">'],
  ])('is inserted in %p where %p has the bar', (html, expected) => {
    expect(tracked(html, OPENS)).toBe(expected.replace('|', PIXEL))
  })

  test('leaves links behind the body in place', () => {
    const html = '<a href="https://a.example/">a</a></body><a href="https://b.example/">b</a>'
    expect(tracked(html, ALL)).toBe(
      `<a href="${to('https://a.example/')}">a</a>${PIXEL}</body><a href="${to('https://b.example/')}">b</a>`,
    )
  })
})

test('removing the added parts restores any HTML', () => {
  const pieces = fc.constantFrom(
    ...['<a href="https://x.example/?a=1&amp;b=2">', "<A HREF='http://y.example/'", '<a href=https://z.example>', '"'],
    ...['</a>', '<!--', '-->', '<!--[if mso]>', '<![endif]-->', '<style>', '</style>', '</body>', '<', '>', "'", ' '],
    ...[
      '&amp;',
      'ü',
      '<p title="',
      '<script>',
      '</script>',
      '<a data-no-track href="https://n.example/">',
      '\0',
      '\r\n',
    ],
  )
  // An author never writes our links byte for byte; each of them is a raw value of the author.
  const ours = new RegExp(`${BASE}/t/c/[\\w-]+/([\\w-]+)`, 'g')
  const raws = new Map([
    ['https://x.example/?a=1&b=2', 'https://x.example/?a=1&amp;b=2'],
    ['http://y.example/', 'http://y.example/'],
    ['https://z.example', 'https://z.example'],
  ])
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
      const html = parts.join('')
      const back = tracked(html, ALL)
        .replace(PIXEL, '')
        .replace(ours, (_, target: string) => {
          const url = Buffer.from(target, 'base64url').toString()
          return raws.get(url) ?? url.replaceAll('&', '&amp;')
        })
      expect(back).toBe(html)
    }),
    { numRuns: 3_000 },
  )
})

test('leaves the text part unchanged, even if derived from the HTML', () => {
  const html = '<p>Hi <a href="https://x.example/">there</a></p>'
  const content = { html, text: null, headers: [], attachments: [] } as unknown as MailContent
  const derived = trackContent(content, ALL)
  expect(derived.html).toContain(to('https://x.example/'))
  expect(derived.text).toContain('https://x.example/')
  expect(derived.text).not.toContain(BASE)
  const own = trackContent({ ...content, text: 'https://x.example/ or %unsubscribe_url%' }, ALL)
  expect(own.text).toBe(`https://x.example/ or ${BASE}${links.unsubscribe(ID)}`)
  expect(trackContent({ ...content, html: null, text: 'x' }, ALL)).toMatchObject({ html: null, text: 'x' })
  expect(trackContent({ ...content, text: 'x' }, { ...ALL, opens: false, clicks: false }).html).toBe(html)
})

test('sets the unsubscribe link without tracking it, with and without tracked links, and not if it is off', () => {
  const html = '<a href="%unsubscribe_url%">stop</a><p title="http://%UNSUBSCRIBE_URL%/">'
  const stop = BASE + links.unsubscribe(ID)
  const content = { html, text: null, headers: [], attachments: [] } as unknown as MailContent
  const htmlOf = (tracking: Partial<Tracking>) => trackContent(content, { ...ALL, opens: false, ...tracking }).html
  for (const clicks of [true, false]) expect(htmlOf({ clicks })).toBe(`<a href="${stop}">stop</a><p title="${stop}">`)
  expect(htmlOf({ unsubscribe: false, clicks: false })).toBe(html)
})

test('tracks the first ten thousand links', () => {
  const link = '<a href="https://x.example/">'
  const html = tracked(link.repeat(10_002), { ...ALL, opens: false })
  expect(html.split(to('https://x.example/')).length - 1).toBe(10_000)
  expect(html.endsWith(link.repeat(2))).toBe(true)
})

test('processes a megabyte of nested or broken links in a time that grows with its length', async () => {
  for (const piece of ['<a href="https://x.example/">', '<div>', '<a href="', '<!--', '<a href=https://x.example/ ']) {
    const html = piece.repeat(1_000_000 / piece.length)
    await expectCostUnder(2_000, () => tracked(html, ALL), 1)
  }
})
