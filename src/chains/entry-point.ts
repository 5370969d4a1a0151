/** The EntryPoint of ERC-4337, version 0.7. It has the same address on every chain. */
export const entryPoint = '0x0000000071727De22E5E9d8BAf0edAc6f37da032'
