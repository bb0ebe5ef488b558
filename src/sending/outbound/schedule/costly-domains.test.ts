import { expect, test } from 'bun:test'
import { createCostlyDomains } from './costly-domains.ts'

function open() {
  let now = 0
  return { ...createCostlyDomains(() => now, 2), pass: (ms: number) => (now += ms) }
}

test('a domain whose mails take long is costly while others send, until its mails are light again', () => {
  const { learned, isCostly } = open()
  isCostly('light.example')
  learned('heavy.example', 200, 1)
  expect(isCostly('heavy.example')).toBe(true)
  expect(isCostly('light.example')).toBe(false)
  for (let n = 0; n < 10; n++) learned('heavy.example', 1, 1)
  expect(isCostly('heavy.example')).toBe(false)
})

test('a domain whose many light mails use an eighth of the threads is costly, until it sends fewer', () => {
  const { learned, isCostly, pass } = open()
  isCostly('light.example')
  for (let n = 0; n < 8; n++) {
    expect(isCostly('busy.example')).toBe(false)
    learned('busy.example', 70, 50)
    pass(10)
  }
  expect(isCostly('busy.example')).toBe(true)
  pass(1_000)
  expect(isCostly('busy.example')).toBe(false)
})

test('a domain that sends alone has every thread', () => {
  const { learned, isCostly, pass } = open()
  learned('heavy.example', 200, 1)
  expect(isCostly('heavy.example')).toBe(false)
  isCostly('light.example')
  expect(isCostly('heavy.example')).toBe(true)
  pass(10_000)
  expect(isCostly('heavy.example')).toBe(false)
})

test('the least recently seen domain is dropped when there are too many', () => {
  const { learned, isCostly } = open()
  for (let n = 0; n < 10_001; n++) learned(`d${n}.example`, 200, 1)
  isCostly('light.example')
  expect(isCostly('d0.example')).toBe(false)
  expect(isCostly('d10000.example')).toBe(true)
})
