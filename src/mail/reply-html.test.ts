import { expect, test } from 'bun:test'
import { expectCostUnder } from '../../test/support/cpu-cost.ts'
import { replyOf } from './reply-html.ts'

const TEXT = 'Yes, please.\n\nOn Mon, Nov 23, 2026 at 9:41 AM Shop <shop@example.com> wrote:\n\n> Leave it outside?\n'
const gmail = (own: string) =>
  `<div dir="ltr"><b>${own}</b></div><br><div class="gmail_quote gmail_quote_container"><div class="gmail_attr">On Mon wrote:</div><blockquote>Leave it outside?</blockquote></div>`

test('HTML is cut where the quote begins, and its open elements are closed', () => {
  expect(replyOf('Re: x', TEXT, gmail('Yes, please.'))).toEqual({
    text: 'Yes, please.',
    html: '<div dir="ltr"><b>Yes, please.</b></div><br>',
  })
  const nested =
    '<html><body><div>Yes, please.<blockquote type="cite">Leave it outside?</blockquote></div></body></html>'
  expect(replyOf('Re: x', TEXT, nested).html).toBe('<html><body><div>Yes, please.</div></body></html>')
})

test('HTML whose new part differs from the text, or that has no known quote, is null', () => {
  expect(replyOf('Re: x', TEXT, gmail('Yes')).html).toBeNull()
  expect(replyOf('Re: x', TEXT, '<p>Yes, please.</p><p>On Mon wrote: Leave it outside?</p>').html).toBeNull()
})

test('the element of the quote in the HTML shows where it begins in the text, whatever its language', () => {
  const attribution = 'Ar an Luan, 23 Samhain, scríobh an siopa:'
  const text = `Tá, le do thoil.\n\n${attribution}\nAmach leis?\n`
  const html = `<p>Tá, le do thoil.</p><div class="gmail_quote"><div class="gmail_attr">${attribution}</div><blockquote class="gmail_quote">Amach leis?</blockquote></div>`
  expect(replyOf('Re: x', text, html)).toEqual({ text: 'Tá, le do thoil.', html: '<p>Tá, le do thoil.</p>' })
})

test('of two quotes that begin alike, the first is cut, also where the author quotes a third', () => {
  const header = 'From: Shop <shop@example.com>\nSent: Monday\nSubject: x\n\n'
  const old = `${header}Leave it outside?\n\n${header}Your order\n`
  const marked = (text: string) => `<div id="divRplyFwdMsg">${text.replaceAll('<', '&lt;')}</div>`
  expect(replyOf('Re: x', `Yes.\n\n${old}`, `<p>Yes.</p>${marked(old)}`).text).toBe('Yes.')
  const own = `They wrote:\n\n${header}Why?\n\nI do not know.`
  const html = `<p>${own.replaceAll('<', '&lt;')}</p>${marked(old)}`
  expect(replyOf('Re: x', `${own}\n\n${old}`, html).text).toBe(own)
})

test.each([
  [
    'between the quotes',
    '<div class="gmail_quote">On Mon wrote:<blockquote class="gmail_quote">Leave it outside?</blockquote>No!<blockquote class="gmail_quote">At noon?</blockquote></div>',
  ],
  ['below them', '<blockquote type="cite">On Mon wrote:<br>Leave it outside? At noon?</blockquote><p>No!</p>'],
])('what the author writes %s stays', (_, html) => {
  const text =
    'Hi\n\nOn Mon, Nov 23, 2026 at 9:41 AM Shop <shop@example.com> wrote:\n> Leave it outside?\n\nNo!\n> At noon?\n'
  expect(replyOf('Re: x', text, `<p>Hi</p>${html}`)).toEqual({ text: text.trim(), html: null })
})

test('what the author writes below the signature stays', () => {
  const signed = '<p>Yes.</p><div class="gmail_signature">Ann of Accounts</div>'
  const quote = '<div class="gmail_quote">On Monday, the shop wrote:<blockquote type="cite">Outside?</blockquote></div>'
  const text = (own: string) => `${own}\n\nOn Monday, the shop wrote:\n> Outside?\n`
  expect(replyOf('Re: x', text('Yes.\n\nAnn of Accounts'), signed + quote).text).toBe('Yes.')
  const more = replyOf('Re: x', text('Yes.\n\nAnn of Accounts\n\nAt noon.'), `${signed}<p>At noon.</p>${quote}`)
  expect(more.text).toBe('Yes.\n\nAnn of Accounts\n\nAt noon.')
})

test('an answer without words is empty, and a forwarded mail without a text part is whole', () => {
  expect(replyOf('Re: x', TEXT.replace('Yes, please.', ''), gmail(''))).toEqual({ text: '', html: null })
  expect(replyOf('Fwd: x', '', gmail('Is it yours?')).text).toContain('Leave it outside?')
})

test('a mail without a text part is cut by its HTML', () => {
  expect(replyOf('Re: x', '', gmail('Yes, please.')).text).toBe('Yes, please.')
})

test('a mail without text has no new part', () => {
  expect(replyOf('Re: x', ' \n', '')).toEqual({ text: null, html: null })
})

test.each([
  ...['<div>', '<b><blockquote type=cite>', '<div class="a a a">x</div>', '</p>', '<blockquote type="'],
  ...['<div class=gmail_signature>x</div>', '<div class=gmail_quote>On 1.1.2026 a@b wrote:', '<p>aaaaaaaaaaaaaaaaaaaa'],
])('1 MB of %s takes less than 100 ms of CPU, also beside a text', async (piece) => {
  const html = piece.repeat(1_000_000 / piece.length)
  await expectCostUnder(100, () => replyOf('Re: x', '', html))
  await expectCostUnder(100, () => replyOf('Re: x', 'aaaaaaaaaa\n'.repeat(9_999), `<blockquote type=cite>${html}`))
})
