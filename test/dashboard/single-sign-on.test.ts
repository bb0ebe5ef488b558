import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FIRST_USER } from '../../src/model/user.ts'
import type { SignOnFault } from '../../src/web/api/sign-in/single-sign-on/settings.ts'
import { startOidcProvider, type TestProvider } from '../support/oidc-provider.ts'
import { axeFaults, describeWithBrowser, screenshot, startDashboard, type TestDashboard } from './setup.ts'

/** Single sign-on in Chromium, with a real provider. */

const FAULTS: SignOnFault[] = [
  'limited',
  'unavailable',
  'expired',
  'denied',
  'invalid',
  'no_role',
  'no_account',
  'no_email',
  'unverified',
  'disabled',
  'last_operator',
  'too_many',
]

describeWithBrowser('single sign-on', () => {
  let provider: TestProvider
  let board: TestDashboard
  let folder: string
  beforeAll(async () => {
    // The port of the server is not known yet. A native client may return to any port of loopback (RFC 8252 §7.3).
    provider = await startOidcProvider(['http://127.0.0.1/session/oidc/callback'], 'native')
    folder = mkdtempSync(join(tmpdir(), 'postrider-sso-'))
    writeFileSync(join(folder, 'ca.pem'), provider.ca)
    const { issuer, clientId: client_id, clientSecret: client_secret } = provider
    board = await startDashboard(
      async (server) => {
        await server.store().users.update(FIRST_USER, { email: 'ann@a.example' })
      },
      { oidc: { issuer, client_id, client_secret, ca_file: join(folder, 'ca.pem') } },
    )
  })
  afterEach(() => board?.closePages())
  afterAll(async () => {
    await board?.close()
    await provider?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('signs in from the sign-in page and back, under the content security policy', async () => {
    const elsewhere = [new URL(provider.issuer).host]
    const page = await board.blank({ elsewhere, expected: /401/ })
    await page.goto(`${board.origin}/dashboard/messages`)
    await page.getByRole('link', { name: 'Continue with single sign-on' }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'sign-in-single-sign-on')
    await page.getByRole('link', { name: 'Continue with single sign-on' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect(page.url()).toBe(`${board.origin}/dashboard/`)
  })

  test('has a text for every failure, and shows no text of the address', async () => {
    const page = await board.blank({ expected: /401/ })
    for (const fault of FAULTS) {
      await page.goto(`${board.origin}/dashboard/sign-in?sso=${fault}`)
      const text = await page.getByRole('alert').textContent()
      expect([fault, text === 'Single sign-on failed. Start again.']).toEqual([fault, false])
    }
    for (const text of ['Call+me', 'constructor', '<b>x</b>']) {
      await page.goto(`${board.origin}/dashboard/sign-in?sso=${text}`)
      expect(await page.getByRole('alert').textContent()).toBe('Single sign-on failed. Start again.')
    }
  })
})
