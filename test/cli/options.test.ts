import { expect, test } from 'bun:test'
import { LIMIT_MS, postrider } from './command.ts'

const send = (...options: string[]) =>
  postrider('send', '--to', 'b@x.example', '--subject', 's', '--text', 't', ...options)

test(
  'a mistyped option is named before the one that is missing instead, with what was meant',
  async () => {
    expect(await send('--form', 'a@x.example')).toEqual({
      code: 2,
      stdout: '',
      stderr: "error: unknown option '--form'\n(Did you mean --from?)\n",
    })
    expect((await send()).stderr).toBe("error: required option '--from <address>' not specified\n")
  },
  LIMIT_MS,
)

test(
  'a missing backup is named',
  async () => {
    const { code, stderr } = await postrider('restore', '/no/such/backup', '--config', '')
    expect([code, stderr]).toEqual([1, '/no/such/backup: no such file or folder\n'])
  },
  LIMIT_MS,
)
