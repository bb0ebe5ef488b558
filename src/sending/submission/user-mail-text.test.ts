import { expect, test } from 'bun:test'
import { writtenUserMail } from './user-mail-text.ts'

const EXPIRES = Date.UTC(2026, 10, 28, 12)
const invitation = (organization: string, inviter: string | null = 'Ann') =>
  writtenUserMail(
    { kind: 'invitation', role: 'support', organization, inviter, expiresAt: EXPIRES },
    'https://m.example',
  )

test('an invitation names inviter, organization, server, role and expiry, with one link', () => {
  const { subject, text, html } = invitation('Smith & Sons')
  expect(subject).toBe('Invitation to m.example')
  expect(
    text,
  ).toBe(`“Ann” invited you to “Smith & Sons” on m.example, a server that sends and receives mail. Your role will be support.

Open this link to accept. It works once, until 2026-11-28 12:00 UTC.

https://m.example/dashboard/sign-in#invitation=[sign-in-token]

If you did not expect this invitation, ignore this mail.
`)
  expect(html).toContain('“Smith &amp; Sons”')
  expect(html.match(/href="[^"]*"/g)).toEqual(['href="https://m.example/dashboard/sign-in#invitation=[sign-in-token]"'])
})

// threat: invitation-bomb
test.each([
  'evil.example',
  'Visit evil。example now',
  'https://evil',
  'mail a@b',
  '<b>Free</b>',
  'call 0900 123 45 67',
  'a'.repeat(61),
  'Shop\u202egnp',
  'Shop\r\nBcc: x',
])('the name %j is not shown, because a mail client could make a link of it or it hides something', (name) => {
  const { subject, text, html } = invitation(name, name)
  expect(text).toStartWith('A user invited you to an organization on m.example')
  for (const part of [subject, text, html]) expect(part).not.toContain(name)
})

test.each(['Acme Inc.', 'Ünïcode GmbH', 'Team 24', '株式会社'])('the name %j is shown', (name) => {
  expect(invitation(name).text).toContain(`“${name}”`)
})

test('a password mail says who asked', () => {
  const mail = (isNew: boolean, asked: boolean) =>
    writtenUserMail({ kind: 'password', email: 'ann@a.example', isNew, asked, expiresAt: EXPIRES }, 'https://m.example')
  expect(mail(false, true).text).toStartWith('Somebody asked for a new password for the account ann@a.example on m.')
  expect(mail(false, false).text).toStartWith('The operator of m.example created a link')
  expect(mail(true, false).subject).toBe('Your account on m.example')
})
