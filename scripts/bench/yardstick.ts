import { generateKeyPairSync } from 'node:crypto'
import { createSignRsa } from '../../src/sending/outbound/system-rsa.ts'

const SIGNATURES = 150

/** → a function that makes RSA-2048 signatures with the library that the program would use on this machine, and returns
 *  the CPU time of one in ms. A signature allocates little, waits for nothing and makes no system calls. */
export function createYardstick(): () => number {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const sign = createSignRsa(() => performance.now())
  const input = Buffer.alloc(500, 'signed header fields')
  const measure = () => {
    const before = process.cpuUsage()
    for (let time = 0; time < SIGNATURES; time++) sign(input, privateKey)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000 / SIGNATURES
  }
  measure() // opens and chooses the library
  return measure
}
