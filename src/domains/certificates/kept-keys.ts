import { createPrivateKey } from 'node:crypto'
import type { Random } from '../../os/random.ts'
import type { Store } from '../../storage/store.ts'

/** Private keys of certificates that this server makes, in files of the data folder. They are encrypted PKCS #8 (RFC 5958
 *  §3) with a secret of the store, which `seal.key` encrypts: a copy of the folder without that file reveals no key. */

/** File of the key for the self-signed certificate, and of key and chain from an authority. */
export const SELF_SIGNED_KEY = 'smtp-key.pem'
export const ISSUED = 'acme-certificate.pem'

/** The store's passphrase of the keys. Rejects with the error of the store. */
export async function keyPassphrase(secret: Store['secret'], random: Random): Promise<string> {
  return Buffer.from(await secret('certificate keys', random.bytes(32))).toString('hex')
}

/** Key in PEM → the same, encrypted. Throws on anything else. */
export function encryptKey(keyPem: string, passphrase: string): string {
  const encryption = { cipher: 'aes-256-cbc', passphrase }
  return String(createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'pem', ...encryption }))
}

/** Key in PEM, encrypted or in clear → the key in clear. Throws on anything else, and with another passphrase. */
export function decryptKey(pem: string, passphrase: string): string {
  return String(createPrivateKey({ key: pem, passphrase }).export({ type: 'pkcs8', format: 'pem' }))
}
