import { expect, test } from 'bun:test'
import { colorsFor } from '../print.ts'
import { describeTryOut } from './format.ts'

const tryOut = {
  http: '127.0.0.1:8080',
  baseUrl: 'http://127.0.0.1:8080',
  dashboardUrl: 'http://127.0.0.1:8080/dashboard/sign-in#token=T',
  dataDir: '/data',
  mailServer: '127.0.0.1:2525',
  smtpInbound: '127.0.0.1:2526',
  smtpSubmission: '127.0.0.1:2527',
  liveKey: 'svc_live_L',
  testKey: 'svc_test_T',
  webhook: { id: 'wh_1', url: 'https://hooks.example', secret: 'whsec_W' },
  route: { id: 'route_1', secret: 'rsec_R' },
  stop: async () => {},
}

test('the introduction gives each address, key and secret with its label', () => {
  const rows = describeTryOut(tryOut, 400, colorsFor({}, false)).split('\n').slice(2, 13)
  const cells = rows.map((row) => [row.slice(2, 14).trim(), row.slice(14).split('  ')[0]])
  expect(cells).toEqual([
    ['Dashboard', tryOut.dashboardUrl],
    ['API', 'http://127.0.0.1:8080/v1'],
    ['Live key', 'svc_live_L'],
    ['Sandbox key', 'svc_test_T'],
    ['Domain', 'postrider.example'],
    ['Mail server', '127.0.0.1:2525'],
    ['Webhook', 'https://hooks.example'],
    ['Secret', 'whsec_W'],
    ['SMTP', '127.0.0.1:2527'],
    ['Inbound', '127.0.0.1:2526'],
    ['Secret', 'rsec_R'],
  ])
})

test('the introduction has commands to copy, with the keys that they need', () => {
  const text = describeTryOut(tryOut, 400, colorsFor({}, false))
  const after = (heading: string) => text.slice(text.indexOf(heading)).split('\n\n')[1]
  expect(after('Send a message')).toContain("'Authorization: Bearer svc_live_L'")
  expect(after('Simulate a failure')).toContain("'Authorization: Bearer svc_test_T'")
  expect(after('Simulate a failure')).toContain('"to":"bounce@customer.example"')
  expect(after('Forward events')).toContain('POSTRIDER_API_KEY=svc_live_L')
  expect(after('Variables')).toBe(
    'export API=http://127.0.0.1:8080 KEY=svc_live_L TEST_KEY=svc_test_T SMTP=127.0.0.1:2527 INBOUND=127.0.0.1:2526 POSTRIDER_URL=http://127.0.0.1:8080 POSTRIDER_API_KEY=svc_live_L WEBHOOK_SECRET=whsec_W ROUTE_SECRET=rsec_R',
  )
  expect(text).toContain('Ready after 400 ms. Press Ctrl-C')
})
