import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { run } from '../support/real-tools.ts'

/** The manual's examples for proxies, checked by those proxies where they are installed. */
describe('the manual', () => {
  const PAGE = readFileSync(join(import.meta.dir, '../../src/manual/tls.md'), 'utf8')
  const block = (language: string) => PAGE.split(`\`\`\`${language}\n`)[1]!.split('```', 1)[0]!
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'postrider-proxies-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test.skipIf(Bun.which('caddy') === null)('has a Caddyfile that Caddy accepts', async () => {
    writeFileSync(join(folder, 'Caddyfile'), block('caddy'))
    const { exitCode, output } = await run(['caddy', 'adapt', '--validate', '--config', join(folder, 'Caddyfile')], {
      env: { PATH: process.env.PATH!, HOME: folder },
    })
    expect(output).toContain('127.0.0.1:8025')
    expect(exitCode).toBe(0)
  })

  test.skipIf(Bun.which('nginx') === null)('has a server block that nginx accepts', async () => {
    const made = await selfSignedCertificate({ names: ['api.example.com'], now: Date.now() })
    writeFileSync(join(folder, 'fullchain.pem'), made.certificatePem)
    writeFileSync(join(folder, 'privkey.pem'), made.keyPem)
    const server = block('nginx').replaceAll('/etc/letsencrypt/live/mail.example.com', folder)
    const paths = `pid ${folder}/pid; error_log ${folder}/log;`
    writeFileSync(join(folder, 'nginx.conf'), `${paths} events {} http { access_log off; ${server} }`)
    const { exitCode, output } = await run(['nginx', '-t', '-e', join(folder, 'log'), '-c', join(folder, 'nginx.conf')])
    expect(output).toContain('test is successful')
    expect(exitCode).toBe(0)
  })
})
