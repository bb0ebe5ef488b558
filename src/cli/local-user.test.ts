import { expect, test } from 'bun:test'

const reported = (env: Record<string, string>) => {
  const script = `console.log((await import('${import.meta.dir}/local-user.ts')).localUser())`
  return Bun.spawnSync([process.execPath, '-e', script], { env }).stdout.toString().trim()
}

test('a user without a name in the environment is its number', () => {
  expect(reported({ USER: 'ann' })).toBe('ann')
  expect(reported({})).toMatch(/^(uid \d+|(?!unknown$)[a-z_][\w.-]*)$/)
})
