import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeConfig } from '../../src/config/load.ts'
import { openCheckDeps } from '../../src/operating/checkup/deps.ts'
import { checkSingleSignOn } from '../../src/operating/health/single-sign-on.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { startOidcProvider, type TestProvider } from '../support/oidc-provider.ts'

let provider: TestProvider
const folder = mkdtempSync(join(tmpdir(), 'postrider-sso-'))
const caFile = join(folder, 'ca.pem')
beforeAll(async () => {
  provider = await startOidcProvider(['https://mail.example.com/session/oidc/callback'])
  writeFileSync(caFile, provider.ca)
})
afterAll(async () => {
  await provider.stop()
  rmSync(folder, { recursive: true })
})

async function look(oidc: { issuer: string; ca_file?: string }) {
  const config = makeConfig({
    hostname: 'mail.example.com',
    data_dir: folder,
    http: { public_url: 'https://mail.example.com' },
    oidc: { client_id: 'postrider', ...oidc },
  })
  const { deps, close } = openCheckDeps(config, { clock: systemClock, random: systemRandom, held: null })
  try {
    return await checkSingleSignOn(deps)
  } finally {
    close()
  }
}

test('passes when the provider answers, and names the redirect URI', async () => {
  const { status, message } = await look({ issuer: provider.issuer, ca_file: caFile })
  expect([status, message]).toEqual([
    'pass',
    `${provider.issuer} answers; its redirect URI is https://mail.example.com/session/oidc/callback`,
  ])
})

test('fails for an untrusted certificate, another issuer, and a provider that is down', async () => {
  expect(await look({ issuer: provider.issuer })).toMatchObject({ status: 'fail' })
  expect(await look({ issuer: `${provider.issuer}/elsewhere`, ca_file: caFile })).toMatchObject({
    status: 'fail',
    message: `${provider.issuer}/elsewhere: not an OpenID Connect provider`,
  })
  provider.isDown = true
  expect(await look({ issuer: provider.issuer, ca_file: caFile })).toMatchObject({ status: 'fail' })
})

test('is skipped without a provider', async () => {
  expect((await look({ issuer: '' })).status).toBe('skip')
})
