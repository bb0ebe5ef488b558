import { readFileSync } from 'node:fs'

/** Text of a file, such as one of the kernel; '' if it cannot be read. */
export function fileText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
