import { expect, test } from 'bun:test'
import { scanHtml } from './html-scan.ts'
import { asksNotToTrack, withoutNoTrackScheme } from './no-track.ts'

function asks(html: string): boolean {
  let found = false
  scanHtml(html, {
    tag: (tag) => {
      found ||= asksNotToTrack(tag)
    },
  })
  return found
}

test.each([
  'data-no-track',
  'data-pm-no-track',
  'data-pm-no-track="true"',
  'DATA-PM-NO-TRACK',
  'clicktracking=off',
  'clicktracking="off"',
  "clicktracking='OFF'",
  'clicktracking=" off "',
  'disable-tracking=true',
  'disable-tracking="true"',
  'disable-tracking',
  'ses:no-track',
  'ses:no-track=""',
  'ses:no-track="true"',
  'mc:disable-tracking',
  'mc:disable-tracking=""',
  'data-msys-clicktrack="0"',
  'data-msys-clicktrack=0',
  'data-msys-clicktrack = "&#48;"',
  'data-mt-no-track',
  'data-disable-tracking="true"',
])('a link with %p is not tracked', (attribute) => {
  expect(asks(`<a ${attribute} href="https://x.example/">`)).toBe(true)
  expect(asks(`<a href="https://x.example/" ${attribute}>`)).toBe(true)
})

test.each([
  'clicktracking=on',
  'clicktracking',
  'disable-tracking=false',
  'data-msys-clicktrack="1"',
  'data-msys-linkname="no-track"',
  'data-track="off"',
  'title="data-pm-no-track"',
  'class="ses:no-track"',
  'constructor',
])('a link with %p is tracked', (attribute) => {
  expect(asks(`<a ${attribute} href="https://x.example/">`)).toBe(false)
})

test.each([
  ['<a href="https+notrack://x.example/">', '<a href="https://x.example/">'],
  ['See http+notrack://x.example and HTTPS+NoTrack://y.example.', 'See http://x.example and HTTPS://y.example.'],
  ['git+https+notrack://x', 'git+https://x'],
  ['https+notrack: no link', 'https+notrack: no link'],
  ['xhttps+notrack://x.example', 'xhttps+notrack://x.example'],
])('%p goes out as %p', (text, plain) => {
  expect(withoutNoTrackScheme(text)).toBe(plain)
})
