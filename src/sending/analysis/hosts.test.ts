import { expect, test } from 'bun:test'
import { colourOf } from './colour.ts'
import { hostShown, isIpHost, isLocalHost, isLookAlike, isShortener, registeredDomainOf } from './hosts.ts'

const hostOf = (name: string) => new URL(`https://${name}/`).hostname

test.each([
  ['www.bank.com/login', 'www.bank.com'],
  ['https://intern.example/x?y', 'intern.example'],
  [' bank.com ', 'bank.com'],
  ['müller.de', 'xn--mller-kva.de'],
  ['Node.js', null],
  ['offer.pdf', null],
  ['our page at bank.com', null],
  ['a@bank.com', null],
  ['1.5', null],
  ['', null],
])('the text %j shows the host %p', (text, host) => expect(hostShown(text)).toBe(host))

test.each([
  ['pаypal.com', true], // Cyrillic а among Latin letters
  ['аррӏе.com', true], // all Cyrillic, all like Latin ones
  ['gοοgle.com', true], // Greek ο
  ['paypal.com', false],
  ['müller.de', false],
  ['пример.рф', false],
  ['例え.jp', false],
])('%s looks like another name: %p', (name, isOne) => expect(isLookAlike(hostOf(name))).toBe(isOne))

test('hosts are classified by kind', () => {
  expect(['192.0.2.1', '0xc0000201', '[2001:db8::1]', 'a.example.org'].map((name) => isIpHost(hostOf(name)))).toEqual([
    true,
    true,
    true,
    false,
  ])
  expect(['localhost', 'nas', 'shop.local', 'shop.org'].map(isLocalHost)).toEqual([true, true, true, false])
  expect(['bit.ly', 'www.bit.ly', 'orbit.ly'].map(isShortener)).toEqual([true, true, false])
  expect(['a.b.example.co.uk', 'localhost'].map(registeredDomainOf)).toEqual(['example.co.uk', 'localhost'])
})

test.each([
  ['#FFF', '#ffffff'],
  ['#fffffe !important', '#fffffe'],
  ['ffffff', '#ffffff'],
  ['White', '#ffffff'],
  ['rgb(255, 255,255)', '#ffffff'],
  ['rgba(0,0,0,1)', '#000000'],
  ['rgba(0,0,0,0.5)', null],
  ['inherit', null],
  ['', null],
])('the colour %j is %p', (text, colour) => expect(colourOf(text)).toBe(colour))
