import { describe, expect, test } from 'bun:test'
import { createLog } from '../../os/log.ts'
import { type CheckStatus, runChecks } from './check.ts'
import { createHealthWatch } from './watch.ts'

const NOW = 1_795_262_400_000

describe('health checks of a running server', () => {
  const watch = () => {
    const lines: string[] = []
    const clock = { now: () => NOW, sleep: async () => {} }
    const log = createLog({ clock, level: 'info', format: 'json', write: (line) => lines.push(line) })
    let status: CheckStatus = 'pass'
    let runs = 0
    const health = createHealthWatch({
      run: async () => {
        runs++
        return runChecks([{ name: 'disk', look: () => ({ status, message: `it is ${status}`, advice: 'make room' }) }])
      },
      now: clock.now,
      log,
    })
    const find = async (found: CheckStatus) => {
      status = found
      await health.look()
      return lines.splice(0).map((line) => {
        const { level, check, status, found, advice } = JSON.parse(line)
        return [level, check, status, found, advice].filter((part) => part !== undefined).join(' ')
      })
    }
    return { health, find, runs: () => runs }
  }

  test('warn when a result becomes worse, inform when it becomes better, and log nothing else', async () => {
    const { find } = watch()
    expect(await find('pass')).toEqual([])
    expect(await find('warn')).toEqual(['warn disk warn it is warn make room'])
    expect(await find('warn')).toEqual([])
    expect(await find('fail')).toEqual(['warn disk fail it is fail make room'])
    expect(await find('skip')).toEqual(['info disk skip it is skip'])
    expect(await find('fail')).toEqual(['warn disk fail it is fail make room'])
  })

  test('log what is wrong from the start', async () => {
    expect(await watch().find('fail')).toEqual(['warn disk fail it is fail make room'])
  })

  test('have no result before the first run, and one run serves all concurrent callers', async () => {
    const { health, runs } = watch()
    expect(health.latest()).toBeNull()
    const [first, second] = await Promise.all([health.look(), health.look()])
    expect(first).toBe(second)
    expect(runs()).toBe(1)
    expect(health.latest()).toMatchObject({ checkedAt: NOW, hasNoFailure: true })
    await health.look()
    expect(runs()).toBe(2)
  })
})
