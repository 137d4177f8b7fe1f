BEGIN TRANSACTION;
CREATE TABLE answer (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	question_id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	body BLOB NOT NULL, 
	body_hash TEXT NOT NULL, 
	status TEXT NOT NULL, 
	told DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (study_id, "key"), 
	FOREIGN KEY(study_id) REFERENCES study (id), 
	FOREIGN KEY(question_id) REFERENCES question (id)
);
INSERT INTO "answer" VALUES(1,1,1,'q1',X'07451D9264BAF83F64B6E4BBF93BEEBFA7FADD334671C03F','5147f54d0ac90822c21c5e18d152d9edb3fc701b028132e15bfb2ae05f8ca6ee','withdrawn',1.79502397999869108199e+09);
INSERT INTO "answer" VALUES(2,1,1,'again',X'84A20E49325D0440C099B4416440AC3F55BF7BC6280EF23F','244ceb145e93edb11b53db5b72a2298238b01441be5e807c82a119ca1a10a094','conflict',1.79502398000725293157e+09);
INSERT INTO "answer" VALUES(3,1,1,'corrected',X'07451D9264BAF83F64B6E4BBF93BEEBFA7FADD334671C03F','5147f54d0ac90822c21c5e18d152d9edb3fc701b028132e15bfb2ae05f8ca6ee','counted',1.79502398002312326427e+09);
INSERT INTO "answer" VALUES(4,1,1,'late',X'07451D9264BAF83F64B6E4BBF93BEEBFA7FADD334671C03F','5147f54d0ac90822c21c5e18d152d9edb3fc701b028132e15bfb2ae05f8ca6ee','late',1.79502398006848335266e+09);
INSERT INTO "answer" VALUES(5,1,2,'q2',X'BB83E72A1B98F23F53A98750EE99EFBFC0C35C01D0B8CD3F','8eeeb9873a24b6b9e65a94a908979ed72ec9b91cab095dbb53adeec9e5118279','counted',1.79502398007067394251e+09);
CREATE TABLE closure (
	deployment_id INTEGER NOT NULL, 
	closed DOUBLE NOT NULL, 
	PRIMARY KEY (deployment_id), 
	FOREIGN KEY(deployment_id) REFERENCES deployment (id)
);
INSERT INTO "closure" VALUES(1,1.79502398003165364263e+09);
CREATE TABLE deployment (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	theta BLOB NOT NULL, 
	theta_hash TEXT NOT NULL, 
	opened DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (study_id, number), 
	FOREIGN KEY(study_id) REFERENCES study (id)
);
INSERT INTO "deployment" VALUES(1,1,0,X'E55DE6B495A5FC3FADE8337CC05E06C0E6655A3D21D801C0','97bf2a599b7867aa38379bc65a903dc9122ebb4a2c3a14ffb166931a85a24b3c',1.79502397995613718027e+09);
INSERT INTO "deployment" VALUES(2,1,1,X'88979929A45800C00248CBEFA3C909C06D50D639D616F3BF','ca58ee3acb27cb125970a0ccb35b937327cfd65c69d1ed230d1f2e61e87c6b11',1.79502398003165364263e+09);
CREATE TABLE event (
	study_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	body TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (study_id, number), 
	FOREIGN KEY(study_id) REFERENCES study (id)
);
INSERT INTO "event" VALUES(1,0,'created','{"data":"07215657946893da","name":"frozen","schema":1,"specification":"c7f1bb09c174f93eac6959dd4005c1507485fbbb20b2490ff55dbed05fdb0c56"}',1.79502397991522359851e+09,'f250ee01930b25b304e7fe56b9afb7d81f251cbf1d438f546147ee9f4f7bad33');
INSERT INTO "event" VALUES(1,1,'deployed','{"deployment":0,"questions":[[1,6]],"theta":"97bf2a599b7867aa38379bc65a903dc9122ebb4a2c3a14ffb166931a85a24b3c"}',1.79502397995613718027e+09,'1d1fd14e270f2cb1ab69c53ecebc16b77151a8fe3f1e2099a701bc24a20dfa60');
INSERT INTO "event" VALUES(1,2,'phase','{"phase":"run"}',1.79502397995613718027e+09,'552ea48b559e9b2f2e93b03a1891f515988cc01439c1b3368d90b89288a7581f');
INSERT INTO "event" VALUES(1,3,'withdrawn','{"answer":1,"digest":"b1e911387bbc5cb28358e017b9b84407a1d3dc35b928d6d9ae8b4bf8490880d9","reason":"asked to"}',1795023980.01506,'2efb0f0850077ea39343dea2960b272f72bb4b736764c19796d72090f9eb2f77');
INSERT INTO "event" VALUES(1,4,'closed','{"answers":{"1":"b1e911387bbc5cb28358e017b9b84407a1d3dc35b928d6d9ae8b4bf8490880d9","2":"e55bacd3fdb4b02d9313528c7cdc1039d34ae6b2deb9ebb309e01d928cc71cc7","3":"955bdfeefff6a06b717dfc32eab32126b047de2dd1bc043d6a9e50dd71a47136"},"counted":[3],"deployment":0,"exposures":{"1":"36d6673d9c18feeb65a9b83cfc050745c996e64779bf78352f41483c48751db5"}}',1.79502398003165364263e+09,'f0eb7a922a898a7f1e6b0471fbce0d41fb8f6c7018bbf044d748e6e44fb951c9');
INSERT INTO "event" VALUES(1,5,'deployed','{"deployment":1,"questions":[[2,6]],"theta":"ca58ee3acb27cb125970a0ccb35b937327cfd65c69d1ed230d1f2e61e87c6b11"}',1.79502398003165364263e+09,'09fd95fa679eb1760fa8e38cbe50ca407ece8c1d1739b7059326d08ae1d7ee0b');
INSERT INTO "event" VALUES(1,6,'late','{"answer":4,"digest":"cf6dfe16b8f527ac400f6dd706a8c2f597279c560c81662571a62ca3c084bc45"}',1.79502398006848335266e+09,'9592b97ffdf2d670798332b1d8236be74cbb658d37c765238f7416712de35d22');
CREATE TABLE exposure (
	id INTEGER NOT NULL, 
	question_id INTEGER NOT NULL, 
	holder TEXT NOT NULL, 
	shown DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (question_id, holder), 
	FOREIGN KEY(question_id) REFERENCES question (id)
);
INSERT INTO "exposure" VALUES(1,1,'tester',1.79502397998289155958e+09);
INSERT INTO "exposure" VALUES(2,2,'tester',1.7950239800695047378e+09);
CREATE TABLE lease (
	question_id INTEGER NOT NULL, 
	holder TEXT NOT NULL, 
	granted DOUBLE NOT NULL, 
	expires DOUBLE NOT NULL, 
	PRIMARY KEY (question_id), 
	FOREIGN KEY(question_id) REFERENCES question (id)
);
INSERT INTO "lease" VALUES(1,'tester',1.79502397998289155958e+09,1.79502757998289155958e+09);
INSERT INTO "lease" VALUES(2,'tester',1.7950239800695047378e+09,1.79502758006950473789e+09);
CREATE TABLE question (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	deployment_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	agent BIGINT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (deployment_id, position, attempt), 
	FOREIGN KEY(study_id) REFERENCES study (id), 
	FOREIGN KEY(deployment_id) REFERENCES deployment (id)
);
INSERT INTO "question" VALUES(1,1,1,0,0,6);
INSERT INTO "question" VALUES(2,1,2,0,0,6);
CREATE TABLE study (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	specification TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	schema_version INTEGER NOT NULL, 
	created DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "study" VALUES(1,'frozen','{"problem": {"X": {"bits": "8NSE7Lvauj/tQ+YYNCThv+bRzpVfJNc/PBC9Ji/d9D+jvGm8fE7uPyiv2sH/hOa/u8iclSo/9L/79CBJ3fHjv+MMi8OtKKU/gyMavKmZAsB+JZ2AXQHMv37iQlFA7/O/9yaM8rtu57/UpH3QkWrhvyjQ1AJDPtS/+MHwmidY2j+TYrZ/Iq7wPwie3+bSc8C/cAjTzAjd9T8fJgNXRknlv3Lo0Bckf9Y/32FjTDrp7D9tBU6gMBG4P65nEvC+yue/6IpdN8Z+7b8Fp/FCYUvdvxdyBZNaL8w/yO57ZWUn8L/CFpnmQ8bKv8vbJDF8YcS/WytNZptO4T8U9Xk783nLP6fpzSxtvtY/doLU+Sns5L/kv+n2LZfAv8rymLlTFuk/39B4Dhjl9z9Phz7mISX0vyFC0iIIOfg/hykaq7SI9T9bAkDEgADpP6R54E7X7NA/Jr55t08X1L/D7Ap/DVT3P3nVDdM3Xf8/FYjWFX/T/D/tFsY+qgr1P5S4ABZS39Y/P8oM60VV879qGVNBfz5yv6F9GbnXAeU/SLID6SCd9L9MO5oJrknZP+/yvwPjgts/v0EBZPtF5j8SQF2uJfLyv5HGUt+qLOW/5lBTGo7u27/+7Io0grfyvzrKP2lz1Ps/", "shape": [20, 3]}, "alpha_max": 20.0, "feature_cost": {"bits": "AAAAAAAA8D8AAAAAAADwPwAAAAAAAPA/", "shape": [3]}, "flips": "one-way", "form": "exact", "intercept": null, "label_cost": 0.5, "loss": {"part": "Logistic"}, "positive": "exact", "radius": 0.05, "smooth": true, "weights": null, "y": {"bits": "AAAAAAAA8D8AAAAAAADwvwAAAAAAAPC/AAAAAAAA8L8AAAAAAADwPwAAAAAAAPA/AAAAAAAA8L8AAAAAAADwvwAAAAAAAPA/AAAAAAAA8D8AAAAAAADwPwAAAAAAAPA/AAAAAAAA8D8AAAAAAADwPwAAAAAAAPA/AAAAAAAA8D8AAAAAAADwPwAAAAAAAPA/AAAAAAAA8L8AAAAAAADwPw==", "shape": [20]}}, "sees": "features", "settings": {"batch": 4, "max_answers": 24, "max_deployments": null, "max_per_person": 5, "method": "ogda-rr", "patience": 604800.0, "seed": 3, "silence": "replace"}, "table": null, "version": 1}','07215657946893da',1,1.79502397991522359851e+09);
CREATE INDEX events_of_kind ON event (study_id, kind, number);
CREATE UNIQUE INDEX one_counted_answer ON answer (question_id) WHERE status = 'counted';
CREATE INDEX answers_of_status ON answer (study_id, status);
CREATE INDEX answers_of_question ON answer (question_id);
COMMIT;
