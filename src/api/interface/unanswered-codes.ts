/** Codes of errors that the published clients know, and that no operation of this version answers. */
export const unansweredCodes: readonly {
  codes: readonly number[]
  /** The errors of those codes. */
  about: string
  /** A sentence that says why, and what is answered where the condition exists. */
  here: string
}[] = [
  {
    codes: [403, 500, 501, 502, 504],
    about: 'HTTP statuses, of answers without a code',
    here: 'Every answer has a code: 3 with the status 403, -1 with 500. A proxy before this server may answer the others.',
  },
  {
    codes: [110700, 110701, 110702, 110703],
    about: 'quotes and sessions of the purchase and sale of USDC',
    here: 'Not part of this version.',
  },
  {
    codes: [155114, 155123],
    about: 'an unknown app id, and PIN requests without further data',
    here: 'The session of the user names the app; a submission that does not fit its challenge has 155117.',
  },
  {
    codes: [155132],
    about: 'a one-time code that is not found',
    here: 'A token of codes that is used or unknown has 155131, and one that is void 155146.',
  },
  {
    codes: [155138, 155151, 155154, 155155, 155156, 155157, 155158, 155159, 155160],
    about: 'mail servers and templates of an app',
    here: 'The operator sets the mail server and writes the mails: without one, 155150 is answered. A mail is sent after the answer.',
  },
  {
    codes: [155202, 155203, 177001, 177002],
    about: 'nonces that a caller chose',
    here: 'This server chooses nonces.',
  },
  {
    codes: [155205, 155206, 155207, 177003, 177005, 177006],
    about: 'estimates that fail for lack of tokens, of an approval or of gas',
    here: 'Coins that do not suffice have 155204 or 177004; other calls that revert have 155208 or 177007, with the reason of the contract.',
  },
  {
    codes: [155222],
    about: 'metadata of an NFT that are not found',
    here: 'The list of NFTs omits the metadata.',
  },
  {
    codes: [155223, 155228, 155240, 155241, 155243, 156021, 156032, 177012, 177017],
    about: 'fields that are missing, or do not fit each other',
    here: 'A missing or malformed field has the code 2 and its name; amounts of NFTs have 155218 or 155242, and other amounts 155221, 155224 or 155245.',
  },
  {
    codes: [155258, 177025],
    about: 'too little of the coin that is paid',
    here: 'It has 155201, and 177004 where a contract is deployed.',
  },
  {
    codes: [155262, 155802],
    about: 'accounts that are not on the chain yet',
    here: 'A wallet without coins has 155201; a signature needs no account on the chain.',
  },
  {
    codes: [155505, 177303],
    about: 'smart accounts whose first transaction is not queued yet',
    here: 'Later transactions wait in the queue of the account.',
  },
  {
    codes: [155509, 155512, 155516, 177302, 177304, 177305],
    about: 'smart accounts: missing policies of a paymaster, owners, and versions',
    here: 'The treasury of the entity pays their gas, and every version can be derived. 155506, 155507 and 155514 to 155517 are answered. Smart accounts deploy no contracts.',
  },
  {
    codes: [155601],
    about: 'a wallet set that exists and cannot be read',
    here: 'A request that is repeated gets the wallet set that it made.',
  },
  {
    codes: [
      155701, 155702, 155703, 155704, 155705, 155706, 155707, 155708, 155709, 155710, 155711, 155712, 155713,
      155714, 155715, 155716, 155717, 155718, 155719, 155720, 155721,
    ],
    about: 'screens, biometrics and network of a device',
    here: 'Libraries on devices throw them themselves; no server answers them.',
  },
  {
    codes: [156008, 156010, 177603],
    about: 'entities, or their configurations, that are not found',
    here: 'An API key has one entity, which has a configuration from the beginning.',
  },
  {
    codes: [156019, 177606],
    about: 'entity secrets that have to be rotated',
    here: 'An entity secret stays valid until it is rotated.',
  },
  {
    codes: [156027, 175202, 175205, 175406, 175409],
    about: 'blockchains, templates, estimates and entities that are switched off',
    here: 'A blockchain without the operation has 155510 or 175402, and the wallets of a frozen entity have 155501.',
  },
  {
    codes: [175405, 177607],
    about: 'in operations of contracts: keys without a prefix, and idempotency keys that were used',
    here: 'They have 156007 and 175403.',
  },
  {
    codes: [177018, 177019, 177020, 177021, 177023],
    about: 'limits of policies of a console',
    here: 'What a policy of the operator does not allow has 155900; gas that the treasury does not pay for within a day has 177022.',
  },
]
