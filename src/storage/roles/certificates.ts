/** The certificate from an authority, which all nodes present, and their answers to its challenges. */
export interface SharedCertificates {
  /** What is stored, if its version is another one than `known`; null if it is the same. 0 is the version before the
   *  first change. */
  changed(known: number): Promise<StoredTexts | null>
  /** Replaces one of the texts. The certificate, which contains its private key, is stored encrypted. */
  keep(part: 'certificate' | 'progress', text: string): Promise<void>
  /** Stores the answer to a challenge until `hide`, or for `forMs`. */
  show(token: string, answer: string, forMs: number): Promise<void>
  hide(token: string): Promise<void>
  /** The answer to a challenge; null if there is none. */
  shown(token: string): Promise<string | null>
}

export interface StoredTexts {
  version: number
  /** PEM of the key and the chain; null = none yet. */
  certificate: string | null
  progress: string | null
}
