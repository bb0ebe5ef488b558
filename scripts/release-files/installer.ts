const LINE = /^signers=''$/m

/** install.sh with the public keys of releases in it, so that it trusts these and nothing that it downloads. Throws if the
 *  script has no line `signers=''`, or if a key contains a character that allowed signers never have. */
export function installerWith(script: string, signers: string): string {
  const keys = keysIn(signers)
  if (keys.length === 0) return script
  if (!LINE.test(script)) throw new Error("install.sh has no line signers=''")
  // Single quotes end only at the next one: nothing else of the text has a meaning for the shell.
  if (keys.some((key) => /['\0\r]/.test(key)))
    throw new Error('a release key contains a quotation mark or control character')
  return script.replace(LINE, () => `signers='${keys.join('\n')}'`)
}

/** A list of allowed signers → its keys, without comments. Source: ssh-keygen(1), ALLOWED SIGNERS. */
export const keysIn = (signers: string): string[] =>
  signers.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
