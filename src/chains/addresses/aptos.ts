/** 0x and 64 hexadecimal digits (AIP-40); the special addresses 0x0 to 0xf also as one digit, which is their canonical form. */
export function parseAptosAddress(text: string): string | undefined {
  if (!/^0x([0-9a-fA-F]{64}|[0-9a-fA-F])$/.test(text)) return undefined
  return canonicalAptosAddress(text)
}

/** The canonical form of an address whose leading zeros a node may have left out. */
export function canonicalAptosAddress(text: string): string {
  const digits = text.slice(2).toLowerCase().padStart(64, '0')
  return isSpecialAptosAddress(`0x${digits}`) ? `0x${digits.slice(-1)}` : `0x${digits}`
}

/** Addresses of the framework and of no one: coins sent there are lost. */
export const isSpecialAptosAddress = (address: string): boolean => /^0x(0{63})?[0-9a-f]$/.test(address)

export const aptosAddressForm =
  '0x and 64 hexadecimal digits, leading zeros included, or 0x and one digit for the special addresses 0x0 to 0xf'
