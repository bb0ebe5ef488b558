import { describe, expect, test } from 'bun:test'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { SMTPServer } from 'smtp-server'
import { selfSignedCertificate } from './certificate.ts'

const now = Date.UTC(2026, 5, 15)

test('contains names and addresses, and has its own key', async () => {
  const names = ['Mail.example.test', '*.example.test', '127.0.0.1', '::1']
  const { keyPem, certificatePem } = await selfSignedCertificate({ names, now })
  const certificate = new X509Certificate(certificatePem)
  expect(certificate.checkPrivateKey(createPrivateKey(keyPem))).toBe(true)
  expect(certificate.verify(certificate.publicKey)).toBe(true)
  expect(certificate.subject).toBe('CN=Mail.example.test')
  expect(certificate.issuer).toBe(certificate.subject)
  expect(certificate.checkHost('mail.example.test')).toBeDefined()
  expect(certificate.checkHost('other.test')).toBeUndefined()
  expect(certificate.checkIP('127.0.0.1')).toBeDefined()
  expect(certificate.checkIP('::1')).toBeDefined()
  expect(certificate.ca).toBe(false)
})

test('is valid from a day before now for the requested time, also past 2050', async () => {
  const validity = async (days?: number) => {
    const { certificatePem } = await selfSignedCertificate({ names: ['a.test'], now, days })
    const { validFrom, validTo } = new X509Certificate(certificatePem)
    return [Date.parse(validFrom), Date.parse(validTo)]
  }
  const start = now - 86_400_000
  expect(await validity()).toEqual([start, start + 3650 * 86_400_000])
  expect(await validity(1)).toEqual([start, now])
  expect(await validity(10_000)).toEqual([start, start + 10_000 * 86_400_000])
})

test('has its own serial number, and may contain many or long names', async () => {
  const names = Array.from({ length: 40 }, (_, i) => `${'x'.repeat(60)}.host${i}.example.test`)
  const [one, two] = await Promise.all([selfSignedCertificate({ names, now }), selfSignedCertificate({ names, now })])
  const first = new X509Certificate(one!.certificatePem)
  expect(first.checkHost(names[39]!)).toBeDefined()
  expect(first.subject).toBe('CN=self-signed')
  expect(first.serialNumber).not.toBe(new X509Certificate(two!.certificatePem).serialNumber)
})

test.each([[[]], [['']], [['a b.test']], [['a.test, O=evil']], [['a..test']], [['bücher.test']], [['x'.repeat(64)]]])(
  '%j is refused',
  (names) => {
    expect(selfSignedCertificate({ names, now })).rejects.toThrow('name')
  },
)

describe('in use', () => {
  const made = selfSignedCertificate({ names: ['mx.test', '127.0.0.1'], now: Date.now() })

  test('is presented by Bun.serve and trusted by fetch as its own root', async () => {
    const { keyPem, certificatePem } = await made
    const tlsOptions = { key: keyPem, cert: certificatePem }
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, tls: tlsOptions, fetch: () => new Response('ok') })
    const url = `https://127.0.0.1:${server.port}/`
    const get = (more: object) => fetch(url, { tls: { ca: certificatePem }, proxy: false, ...more } as RequestInit)
    expect(await (await get({})).text()).toBe('ok')
    await expect(get({ tls: {} })).rejects.toThrow()
    await expect(get({ tls: { ca: certificatePem, serverName: 'other.test' } })).rejects.toThrow()
    await server.stop(true)
  })

  test('is presented by smtp-server after STARTTLS', async () => {
    const { keyPem, certificatePem } = await made
    const server = new SMTPServer({ key: keyPem, cert: certificatePem, disableReverseLookup: true, closeTimeout: 100 })
    server.on('error', () => {})
    server.listen(0, '127.0.0.1')
    await once(server.server, 'listening')
    const plain = net.connect((server.server.address() as net.AddressInfo).port, '127.0.0.1')
    for (const line of ['EHLO test\r\n', 'STARTTLS\r\n']) {
      await once(plain, 'data')
      plain.write(line)
    }
    await once(plain, 'data')
    const secure = tls.connect({ socket: plain, servername: 'mx.test', ca: certificatePem })
    await once(secure, 'secureConnect')
    expect(secure.authorized).toBe(true)
    secure.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })
})
