import { expect, test } from 'bun:test'
import { postrider } from './command.ts'

const send = (...options: string[]) =>
  postrider('send', '--to', 'b@x.example', '--subject', 's', '--text', 't', ...options)

test('a mistyped option is named before the one that is missing instead, with what was meant', async () => {
  expect(await send('--form', 'a@x.example')).toEqual({
    code: 2,
    stdout: '',
    stderr: "error: unknown option '--form'\n(Did you mean --from?)\n",
  })
  expect((await send()).stderr).toBe("error: required option '--from <address>' not specified\n")
})

test.each([
  [['send', '--attachment', 'a.pdf'], "error: unknown option '--attachment'\n(Did you mean --attach?)\n"],
  [['send', '--replyTo', 'a@x.example'], "error: unknown option '--replyTo'\n(Did you mean --reply-to?)\n"],
  [['send', '--colour'], "error: unknown option '--colour'\n"],
  [['suppresion', 'list'], "error: unknown command 'suppresion'\n(Did you mean suppression?)\n"],
  [['suppression', 'create'], "error: unknown command 'create'\nCommands: list, add, remove, help\n"],
  [['teleport'], "error: unknown command 'teleport'\nAll commands: postrider --help\n"],
])('%j gets a suggestion where there is one', async (args, stderr) => {
  expect(await postrider(...args)).toEqual({ code: 2, stdout: '', stderr })
})

test('a missing backup is named', async () => {
  const { code, stderr } = await postrider('restore', '/no/such/backup', '--config', '')
  expect([code, stderr]).toEqual([1, '/no/such/backup: no such file or folder\n'])
})
