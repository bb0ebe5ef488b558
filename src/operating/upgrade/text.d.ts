declare module '*/release-signers' {
  const text: string
  export default text
}
