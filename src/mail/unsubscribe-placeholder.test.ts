import { expect, test } from 'bun:test'
import { mentionsUnsubscribe, withUnsubscribeLink } from './unsubscribe-placeholder.ts'

const LINK = 'https://mail.example/t/u$1'

test.each([
  ['<a href="%unsubscribe_url%">', `<a href="${LINK}">`],
  ["<a href='%UNSUBSCRIBE_URL%'>", `<a href='${LINK}'>`],
  ['<a href=%Unsubscribe_Url%>', `<a href=${LINK}>`],
  ['<a href="%25unsubscribe_url%25">', `<a href="${LINK}">`],
  ['<a href="http://%unsubscribe_url%">', `<a href="${LINK}">`],
  ['<a href="https://%25unsubscribe_url%25/">', `<a href="${LINK}">`],
  ['<a href="https://cms.example/%25unsubscribe_url%25">', `<a href="${LINK}">`],
  ['<a href="http://cms.example/admin/edit/%unsubscribe_url%">', `<a href="${LINK}">`],
  ['<a href="https://shop.example/go?to=%unsubscribe_url%">', `<a href="https://shop.example/go?to=${LINK}">`],
  ['https://shop.example/ or %unsubscribe_url%', `https://shop.example/ or ${LINK}`],
  ['<a href="&#37;unsubscribe_url&#x25;">', `<a href="${LINK}">`],
  ['<a href="%unsubscribe_url%?utm_source=a&amp;b=1">', `<a href="${LINK}?utm_source=a&amp;b=1">`],
  ['<a href="%unsubscribe_url%&utm_source=a">', `<a href="${LINK}">`],
  ['<a href="%unsubscribe_url%&amp;utm_source=a">', `<a href="${LINK}">`],
  ['<a href="%unsubscribe_url%#top">', `<a href="${LINK}#top">`],
  ['<p>Stop: %unsubscribe_url%&nbsp;(always)</p>', `<p>Stop: ${LINK}&nbsp;(always)</p>`],
  ['Stop (%unsubscribe_url%). Or %UNSUBSCRIBE_URL%, twice', `Stop (${LINK}). Or ${LINK}, twice`],
])('%j gets the link', (text, filled) => {
  expect(mentionsUnsubscribe(text)).toBe(true)
  expect(withUnsubscribeLink(text, LINK)).toBe(filled)
})

test.each([
  '%unsubscribe_url',
  'unsubscribe_url',
  '{{ unsubscribe_url }}',
  '%unsubscribe%',
  '100% of unsubscribe_url%',
])('%j is not the placeholder', (text) => {
  expect(mentionsUnsubscribe(text)).toBe(false)
  expect(withUnsubscribeLink(text, LINK)).toBe(text)
})
