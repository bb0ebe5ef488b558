import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listenForStates } from '../../test/support/notify-socket.ts'
import { feedWatchdog, notifySystemd } from './systemd.ts'

describe('notifySystemd', () => {
  test('a socket file gets the state as one datagram', () => {
    const folder = mkdtempSync(join(tmpdir(), 'postrider-notify-'))
    const listener = listenForStates(join(folder, 'notify'))
    expect(notifySystemd('READY=1', join(folder, 'notify'))).toBe(true)
    expect(listener.receive()).toBe('READY=1')
    listener.close()
    rmSync(folder, { recursive: true })
  })

  test('a name that begins with @ is an abstract socket', () => {
    const name = `postrider-test-${process.pid}`
    const listener = listenForStates(`\0${name}`)
    expect(notifySystemd('STOPPING=1', `@${name}`)).toBe(true)
    expect(listener.receive()).toBe('STOPPING=1')
    listener.close()
  })

  test('without a socket or a receiver, nothing happens', () => {
    expect(notifySystemd('READY=1', '')).toBe(false)
    expect(notifySystemd('READY=1', '/nowhere/notify')).toBe(false)
    expect(notifySystemd('READY=1', `/${'long'.repeat(40)}`)).toBe(false)
  })
})

describe('feedWatchdog', () => {
  const fed = () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    return { received: promise, notify: resolve }
  }

  test('reports that the main thread responds, if systemd asked this process for it', async () => {
    for (const env of [{ WATCHDOG_USEC: '2000' }, { WATCHDOG_USEC: '2000', WATCHDOG_PID: `${process.pid}` }]) {
      const { received, notify } = fed()
      const stop = feedWatchdog(env, notify)
      expect(await received).toBe('WATCHDOG=1')
      stop()
    }
  })

  test('waits half of an interval, and of one that is longer than a timer can wait, as long as that', async () => {
    // A timer over its limit would fire at once.
    const long = [2 ** 32 * 1000, 2 ** 40 * 1000].map((usec) =>
      feedWatchdog({ WATCHDOG_USEC: `${usec}` }, () => expect.unreachable()),
    )
    // Timers of one thread fire in the order in which they are due, however late that is.
    const order: string[] = []
    setTimeout(() => order.push('before'), 90)
    const stop = feedWatchdog({ WATCHDOG_USEC: '200000' }, (state) => {
      order.push(state)
      stop()
    })
    await new Promise((resolve) => setTimeout(resolve, 190))
    expect(order).toEqual(['before', 'WATCHDOG=1'])
    for (const each of long) each()
  })

  test('reports nothing if systemd did not ask, or asked another process', async () => {
    const none = [{}, { WATCHDOG_USEC: '' }, { WATCHDOG_USEC: '0' }, { WATCHDOG_USEC: 'soon' }]
    const others = { WATCHDOG_USEC: '2000', WATCHDOG_PID: `${process.pid + 1}` }
    const silent = [...none, others].map((env) => feedWatchdog(env, () => expect.unreachable()))
    const { received, notify } = fed()
    const stop = feedWatchdog({ WATCHDOG_USEC: '20000' }, notify) // a longer interval, or the others would be first
    await received
    for (const each of [stop, ...silent]) each()
  })
})
