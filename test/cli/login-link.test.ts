import { afterEach, beforeEach, expect, test } from 'bun:test'
import { LIMIT_MS, postrider, start, testFolder } from './command.ts'

let place: ReturnType<typeof testFolder>
beforeEach(() => {
  place = testFolder()
})
afterEach(() => place.remove())

const WITH = () => ['--config', place.file]

test(
  'a link made beside a running server opens its dashboard once',
  async () => {
    place.writeConfig()
    const server = await start('serve', ...WITH())
    const { http } = JSON.parse(await server.line)
    const { code, stdout } = await postrider('login-link', '--json', ...WITH())
    expect(code).toBe(0)
    const { url, expires_at } = JSON.parse(stdout)
    expect(Date.parse(expires_at)).toBeGreaterThan(0)
    const { hash, pathname, host } = new URL(url)
    expect([host, pathname, hash]).toEqual([
      http,
      '/dashboard/sign-in',
      expect.stringMatching(/^#token=[0-9A-Za-z]{40}$/),
    ])
    const open = () =>
      fetch(`http://${http}/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-operator': '1' },
        body: JSON.stringify({ token: hash.slice('#token='.length) }),
      })
    const first = await open()
    expect(first.status).toBe(201)
    expect((await open()).status).toBe(401)

    const headers = {
      'content-type': 'application/json',
      'x-operator': '1',
      cookie: first.headers.get('set-cookie')!.split(';', 1)[0]!,
    }
    const body = JSON.stringify({ password: 'a long enough one' })
    expect((await fetch(`http://${http}/session/password`, { method: 'POST', headers, body })).status).toBe(200)
    expect((await postrider('login-link', '--remove-password', ...WITH())).stdout).toContain(
      '/dashboard/sign-in#token=',
    )
    expect((await fetch(`http://${http}/session`, { headers })).status).toBe(401)
    server.kill('SIGTERM')
    expect((await server.ended).stdout).not.toContain(hash)
  },
  LIMIT_MS,
)

test(
  'a link comes with the ssh command for a remote server',
  async () => {
    place.writeConfig('127.0.0.1:8025')
    const { code, stdout, stderr } = await postrider('login-link', ...WITH())
    expect([code, stdout.startsWith('http://127.0.0.1:8025/dashboard/sign-in#token=')]).toEqual([0, true])
    expect(stderr).toContain('ssh -L 8025:127.0.0.1:8025')
  },
  LIMIT_MS,
)
