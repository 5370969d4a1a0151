/** 0x and exactly 64 hexadecimal digits. */
export const isSuiAddress = (text: string): boolean => /^0x[0-9a-fA-F]{64}$/.test(text)
