import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'

/** An RSA-2048 key in `dkim.pem` of the folder, in a format that all of them read → the file. */
export function signingKey(folder: string): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const file = `${folder}/dkim.pem`
  writeFileSync(file, privateKey.export({ type: 'pkcs1', format: 'pem' }))
  return file
}
