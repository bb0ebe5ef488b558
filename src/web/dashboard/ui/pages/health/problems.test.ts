import { expect, test } from 'bun:test'
import { problemsOf } from './problems.ts'

const check = (name: string, status: string, message = `${name} is wrong`) => ({
  name,
  status,
  message,
  advice: 'Fix it.',
})
const alert = (kind: string, subject: string | null, change = {}) => ({
  id: `alr_${kind}_${subject}`,
  kind,
  subject,
  severity: 'critical',
  state: 'firing',
  title: `Title of ${kind}`,
  message: 'found',
  advice: 'Do.',
  raised_at: '2026-11-21T12:00:00Z',
  ...change,
})

test('a check and the alert about it are one problem, with the time of the alert', () => {
  const checks = [
    check('backup', 'warn'),
    check('disk', 'fail'),
    check('sending_addresses', 'fail'),
    check('clock', 'pass'),
  ]
  const alerts = [alert('disk', null), alert('health_check', 'sending_addresses')]
  expect(problemsOf(checks, alerts).map(({ key, isCritical, since }) => [key, isCritical, since])).toEqual([
    ['disk', true, '2026-11-21T12:00:00Z'],
    ['sending_addresses', true, '2026-11-21T12:00:00Z'],
    ['backup', false, null],
  ])
})

test('alerts that name one of several objects replace the check that counts them', () => {
  const checks = [check('alert_channels', 'fail'), check('canary', 'fail')]
  const alerts = [alert('alert_channel', 'on-call'), alert('alert_channel', 'chat'), alert('canary_spam', 'outlook')]
  expect(problemsOf(checks, alerts).map(({ key }) => key)).toEqual([
    'alr_alert_channel_on-call',
    'alr_alert_channel_chat',
    'alr_canary_spam_outlook',
  ])
})

test('an alert that ended is no problem, and one that no check reports is', () => {
  const alerts = [alert('disk', null, { state: 'resolved' }), alert('quality', 'shop.example', { severity: 'warning' })]
  expect(problemsOf([], alerts)).toMatchObject([{ isCritical: false, object: 'Title of quality', page: ['/domains'] }])
})

test('a check about one object is named after it, and a domain of the organization has its page', () => {
  const about = (name: string, subject: string) => ({ ...check(name, 'fail'), subject })
  const checks = [
    about('domains', 'own.example'),
    about('spf', 'other.example'),
    about('sending_addresses', '192.0.2.1'),
  ]
  expect(
    problemsOf(checks, [], new Map([['own.example', 'dom_1']])).map(({ object, page }) => [object, page?.[0]]),
  ).toEqual([
    ['own.example', '/domains/dom_1'],
    ['other.example', '/domains'],
    ['192.0.2.1', '/sending-addresses'],
  ])
})

test('a problem is silenced as its alert is, and a failed check without a result has the name and page of the check', () => {
  const until = '2026-11-22T12:00:00Z'
  const silenced = [alert('health_check', 'sending_addresses', { silenced_until: until })]
  for (const checks of [[], [check('sending_addresses', 'fail')]]) {
    expect(problemsOf(checks, silenced)).toMatchObject([
      {
        object: 'Sending addresses',
        page: ['/sending-addresses'],
        alertId: 'alr_health_check_sending_addresses',
        silencedUntil: until,
      },
    ])
  }
  expect(problemsOf([check('backup', 'warn')], [])).toMatchObject([{ alertId: null, silencedUntil: null }])
})
