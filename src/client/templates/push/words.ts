import { relative } from 'node:path'

/** Words about a component, for the terminal. */

/** Name of an import that was not found → the command that installs it; null for a file of the project. */
export function installHint(specifier: string): string | null {
  if (/^[./~]|^@\/|^#/.test(specifier)) return null
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
  const isReact = ['react', 'react-dom', '@react-email/render', '@react-email/components'].includes(name)
  return `Install it in the project: npm install ${isReact ? 'react react-dom @react-email/components' : name}`
}

/** Place in the user's code → `emails/receipt.tsx:3:12: `; '' for null. */
export function placed(at: string | null): string {
  if (at === null) return ''
  const path = at.replace(/^file:\/\//, '')
  const near = relative('.', path)
  return `${near.startsWith('..') ? path : near}: `
}

/** Path of a variable as people write it: `order.lines[].title`. */
export function pathWords(key: string): string {
  return key.replaceAll('.*', '[]')
}

/** Text → its part around a position, on one line. */
export function excerpt(text: string, at: number): string {
  const from = Math.max(0, at - 30)
  const part = text.slice(from, at + 50).replace(/\s+/g, ' ')
  return `${from > 0 ? '…' : ''}${part}${at + 50 < text.length ? '…' : ''}`
}
