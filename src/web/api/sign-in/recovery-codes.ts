import { RECOVERY_CODES, type UsedCode } from '../../../model/factors.ts'
import type { Random } from '../../../os/random.ts'
import { hashToken } from '../sessions.ts'
import { base32 } from './totp.ts'

/** New recovery codes, and the hashes that the store keeps. */
export function mintRecoveryCodes(random: Random): { codes: string[]; hashes: Uint8Array[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    (base32(random.bytes(BYTES)).toLowerCase().match(/.{4}/g) ?? []).join('-'),
  )
  return { codes, hashes: codes.map((code) => hashToken(folded(code))) }
}

/** Entered text → the recovery code that the store may have; null if it does not look like one. */
export function recoveryCode(text: string): UsedCode | null {
  const code = folded(text)
  return LOOKS_LIKE_ONE.test(code) ? { recoveryHash: hashToken(code) } : null
}

/** People type capitals, spaces and no hyphens. */
const folded = (text: string) => text.replaceAll(/[\s-]/g, '').toLowerCase()

/** 80 random bits: no salt and no slow hash is needed. */
const BYTES = 10
const LOOKS_LIKE_ONE = /^[a-z2-7]{16}$/
