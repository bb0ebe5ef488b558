import { afterEach, describe, expect, test } from 'bun:test'
import { createNetworks } from '../../src/net/ip.ts'
import { createPlaintextGuard } from '../../src/web/api/plaintext-guard.ts'
import { createTestApi, type TestApi } from '../support/api.ts'

/** A server behind a proxy that terminates TLS. */

const PUBLIC = 'https://api.example.com'

let open: TestApi | undefined
afterEach(async () => {
  await open?.api.stop(0)
  await open?.close()
})

async function listen(trusted: string[], isBehindProxy = true) {
  const plaintextGuard = createPlaintextGuard({ isTrusted: createNetworks(trusted), publicUrl: () => PUBLIC })
  open = await createTestApi(isBehindProxy ? { plaintextGuard } : {})
  const { port } = await open.api.listen({ host: '127.0.0.1', port: 0 })
  return (path: string, proto: string | null, method = 'GET') =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: 'Bearer svc_live_x', ...(proto !== null && { 'x-forwarded-proto': proto }) },
      redirect: 'manual',
    })
}

describe('behind a proxy', () => {
  test('refuses an API request that reached it in cleartext, and redirects a page to our https only', async () => {
    const ask = await listen(['127.0.0.0/8'])
    for (const proto of ['http', 'HTTP', 'https, http']) {
      const refused = await ask('/v1/messages', proto)
      expect(refused.status).toBe(403)
      expect((await refused.json()).error.message).toContain('requires HTTPS')
      const page = await ask('/openapi.json?a=1', proto)
      expect([page.status, page.headers.get('location')]).toEqual([308, `${PUBLIC}/openapi.json?a=1`])
      expect(page.headers.get('x-request-id')).toStartWith('req_')
    }
    const elsewhere = await ask('//evil.example/%2e%2e', 'http')
    expect(elsewhere.headers.get('location') ?? `${PUBLIC}/`).toStartWith(`${PUBLIC}/`)
  })

  test('accepts a request that came by TLS or does not say', async () => {
    const ask = await listen(['127.0.0.0/8'])
    for (const proto of ['https', 'http, https', null]) {
      expect((await ask('/openapi.json', proto)).status).toBe(200)
      expect((await ask('/v1/messages', proto)).status).toBe(401)
    }
  })

  test('ignores the header of any other client', async () => {
    const ask = await listen(['10.0.0.0/8'])
    expect((await ask('/openapi.json', 'http')).status).toBe(200)
    expect((await ask('/v1/messages', 'http')).status).toBe(401)
  })

  test('ignores the header without a configured proxy', async () => {
    const ask = await listen([], false)
    expect((await ask('/openapi.json', 'http')).status).toBe(200)
  })
})
