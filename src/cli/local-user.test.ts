import { expect, test } from 'bun:test'

const told = (env: Record<string, string>) => {
  const script = `console.log((await import('${import.meta.dir}/local-user.ts')).localUser())`
  return Bun.spawnSync([process.execPath, '-e', script], { env }).stdout.toString().trim()
}

test('a user whose name the environment does not tell is its number', () => {
  expect(told({ USER: 'ann' })).toBe('ann')
  expect(told({})).toMatch(/^(uid \d+|(?!unknown$)[a-z_][\w.-]*)$/)
})
