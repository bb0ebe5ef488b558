import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import dgram from 'node:dgram'
import { readdirSync } from 'node:fs'
import { TEST_LIMIT_MS, until } from '../../../test/support/patience.ts'
import { systemRandom } from '../../os/random.ts'
import { askTime } from './sntp.ts'

/** 2026-11-21T12:00:00.000Z */
const NOW = 1_795_262_400_000

describe('a time server', () => {
  let server: dgram.Socket
  let port = 0
  /** Request → responses, one after the other. */
  let answer: (request: Buffer) => Buffer[]

  beforeEach(async () => {
    server = dgram.createSocket('udp4')
    server.on('message', (request, peer) => {
      for (const packet of answer(request)) server.send(packet, peer.port, peer.address)
    })
    await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve))
    port = server.address().port
  })
  afterEach(() => new Promise<void>((resolve) => server.close(resolve)))

  const ask = (timeoutMs = TEST_LIMIT_MS) =>
    askTime({ address: '127.0.0.1', port }, { now: () => NOW, random: systemRandom, timeoutMs })
  const packetOf = (request: Buffer, atMs: number) => {
    const packet = Buffer.alloc(48)
    packet[0] = 0x24 // version 4, a server
    packet[1] = 2
    request.copy(packet, 24, 40, 48)
    for (const at of [32, 40]) {
      const seconds = Math.floor(atMs / 1000) + 2_208_988_800
      packet.writeUInt32BE(seconds % 2 ** 32, at)
      packet.writeUInt32BE(Math.floor(((atMs % 1000) / 1000) * 2 ** 32), at + 4)
    }
    return packet
  }
  const says = (atMs: number, change: (packet: Buffer) => void = () => {}) => {
    answer = (request) => {
      const packet = packetOf(request, atMs)
      change(packet)
      return [packet]
    }
  }

  test('is ahead of us, behind, or in step', async () => {
    says(NOW + 90_500)
    expect(await ask()).toBe(-90_500)
    says(NOW - 250)
    expect(await ask()).toBe(250)
    says(NOW)
    expect(await ask()).toBe(0)
  })

  test('keeps no socket open, whether it answered or not', async () => {
    const descriptors = () => readdirSync('/proc/self/fd').length
    const before = descriptors()
    says(NOW)
    for (let n = 0; n < 10; n++) await ask()
    answer = () => []
    for (let n = 0; n < 10; n++) await ask(1)
    await until('the sockets to be closed', () => descriptors() < before + 5)
  })

  test('gives the right time after 2036', async () => {
    const later = Date.parse('2040-01-01T00:00:00Z')
    says(later)
    expect(await ask()).toBe(NOW - later)
  })

  test('is not believed when it is unsynchronized, and its silence ends in time', async () => {
    says(NOW, (packet) => packet.writeUInt8(0xe4, 0))
    expect(await ask()).toBeNull()
    says(NOW, (packet) => packet.writeUInt8(0, 1))
    expect(await ask()).toBeNull()
    answer = () => []
    expect(await ask(50)).toBeNull()
  })

  test('is ignored when it answers another request or is too short; the true answer behind it counts', async () => {
    answer = (request) => {
      const other = packetOf(request, NOW)
      other.writeUInt32BE(0, 24)
      return [other, Buffer.from('short'), packetOf(request, NOW - 250)]
    }
    expect(await ask()).toBe(250)
  })
})
